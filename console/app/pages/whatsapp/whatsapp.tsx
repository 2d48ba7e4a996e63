import { useState } from 'preact/hooks'
import { get } from '../../api'
import { Choice, Empty, Loaded, Page, Tabs, useLoad } from '../../ui'
import { Inbox } from './inbox'
import { type Sender, Senders } from './senders'
import { Templates } from './templates'

export function WhatsApp() {
  const [tab, setTab] = useState('Inbox')
  const senders = useLoad(() => get<{ data: Sender[] }>('/user/whatsapp/senders', { status: 'all' }), [])
  const [chosen, choose] = useState(0)
  return (
    <Page title="WhatsApp" sub="Any text within 24 hours of the customer’s last message; a template otherwise.">
      <Loaded of={senders}>
        {({ data }) => {
          const sender = data.find(s => s.id === chosen) ?? data[0]
          if (!sender)
            return (
              <Empty title="No senders yet">
                Connect a WhatsApp number, or make one in the simulator.{' '}
                <a href="/console/simulator">Open the simulator</a>
              </Empty>
            )
          return (
            <>
              {data.length > 1 && (
                <div class="filters">
                  <Choice
                    label="Sender"
                    value={sender.id}
                    onInput={v => choose(Number(v))}
                    options={data.map(s => [s.id, `${s.display_name} ${s.phone_number}`])}
                  />
                </div>
              )}
              <Tabs names={['Inbox', 'Templates', 'Senders']} now={tab} go={setTab}>
                {tab === 'Inbox' && <Inbox key={sender.id} sender={sender} />}
                {tab === 'Templates' && <Templates key={sender.id} sender={sender} />}
                {tab === 'Senders' && <Senders list={data} reload={senders.reload} />}
              </Tabs>
            </>
          )
        }}
      </Loaded>
    </Page>
  )
}
