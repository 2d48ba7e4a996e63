// The look a person chose: that of the system, dark or light.
import { signal } from '@preact/signals'
import { Choice } from './ui'

const theme = signal(document.documentElement.dataset.theme ?? '')

export const ThemeChoice = () => (
  <Choice
    label="Theme"
    value={theme.value}
    options={[
      ['', 'As the system'],
      ['light', 'Light'],
      ['dark', 'Dark'],
    ]}
    onInput={v => {
      theme.value = v
      document.documentElement.dataset.theme = v
      localStorage.setItem('theme', v)
    }}
  />
)
