// Small building blocks that every page shares.
export * from './ui/asking'
export * from './ui/form'
export * from './ui/load'
export * from './ui/page'
