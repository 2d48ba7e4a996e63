import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { get } from '../../api'
import { Badge, Button, Dialog, Empty, Loaded, Page, Table, useEvents, useLoad } from '../../ui'
import { hours, short, windowOf, type Campaign } from './campaign_types'
import { CampaignForm } from './form'

export function Campaigns() {
  const list = useLoad(() => get<Campaign[]>('/user/campaigns'), [])
  const [open, setOpen] = useState(false)
  const { route } = useLocation()
  useEvents(['campaign'], list.reload)
  return (
    <Page
      title="Campaigns"
      sub="Lists of people that an assistant calls."
      actions={
        <Button kind="primary" onClick={() => setOpen(true)}>
          New campaign
        </Button>
      }
    >
      <Loaded of={list}>
        {all =>
          all.length ? (
            <Table
              label="Campaigns"
              heads={['Name', 'Status', 'Leads', 'Window']}
              rows={all.map(c => [
                <a href={`/console/campaigns/${c.id}`}>{c.name}</a>,
                <Badge>{c.status}</Badge>,
                `${c.leads_count.completed} of ${c.leads_count.total} reached`,
                <>
                  {hours(c)} {short(c.allowed_days)}
                  <div class="muted small">
                    {c.timezone}, {windowOf(c).open ? 'open now' : 'closed now'}
                  </div>
                </>,
              ])}
            />
          ) : (
            <Empty title="No campaigns yet">
              A campaign calls its leads during the hours you allow, and tries again.
            </Empty>
          )
        }
      </Loaded>
      <Dialog title="New campaign" open={open} onClose={() => setOpen(false)}>
        <CampaignForm done={id => route(`/console/campaigns/${id}`)} />
      </Dialog>
    </Page>
  )
}
