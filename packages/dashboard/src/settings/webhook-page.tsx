import { formatCount, type Webhook, type WebhookDelivery } from '@bothost/contract';
import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { Send } from 'lucide-react';
import { useState } from 'react';
import { describeError } from '../api.ts';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { Alert } from '../components/alert.tsx';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { DangerAction, DangerZone } from '../components/danger-zone.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { FactList } from '../components/fact-list.tsx';
import { formatLatency } from '../components/format.ts';
import { MissingObject } from '../components/missing-object.tsx';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { Row, RowList } from '../components/row-list.tsx';
import { PageHeader, Section } from '../components/section.tsx';
import { TextBlock } from '../components/text-block.tsx';
import { RelativeTime } from '../components/time.tsx';
import { useRefresh } from '../components/use-refresh.ts';
import { getOrganizationApi, useMembership } from '../organization/organization.ts';
import { webhookDeliveriesQuery, webhooksQuery } from './queries.ts';
import { WebhookForm } from './webhook-form.tsx';

const route = getRouteApi('/signed-in/app/orgs/$organization/settings/webhooks/$webhookId');

/** The page at `/orgs/:organization/settings/webhooks/:webhookId`: a webhook and what was sent to it. */
export function WebhookPage() {
  const { webhookId } = route.useParams();
  const { name: organization } = useMembership();
  const webhooks = useQuery(webhooksQuery(organization));
  return (
    <QueryBoundary query={webhooks}>
      {(data) => {
        const webhook = data.webhooks.find(({ id }) => id === webhookId);
        if (webhook === undefined) {
          return (
            <MissingObject icon={Send} title="No webhook has this id">
              <Button asChild variant="outline">
                <Link to="/orgs/$organization/settings/webhooks" params={{ organization }}>
                  Show all webhooks
                </Link>
              </Button>
            </MissingObject>
          );
        }
        return <WebhookDetails webhook={webhook} organization={organization} />;
      }}
    </QueryBoundary>
  );
}

type WebhookProps = { readonly webhook: Webhook; readonly organization: string };

function WebhookDetails({ webhook, organization }: WebhookProps) {
  const [open, setOpen] = useState<'edit' | 'delete' | null>(null);
  const { url, events, description, enabled } = webhook;
  const api = getOrganizationApi(organization);
  const navigate = useNavigate();
  const refresh = useRefresh(webhooksQuery(organization).queryKey);
  const params = { webhookId: webhook.id };
  const update = useMutation({
    mutationFn: (body: Partial<Webhook>) => api.updateWebhook({ params, body }),
    onSuccess: () => refresh('The webhook is changed.'),
  });
  const test = useMutation({
    mutationFn: () => api.testWebhook({ params }),
    onSuccess: () => refresh('The test event is being sent.'),
  });
  const problem = update.error ?? test.error;
  return (
    <>
      <PageHeader
        title={new URL(url).host}
        parent={
          <Link to="/orgs/$organization/settings/webhooks" params={{ organization }}>
            Webhooks
          </Link>
        }
        actions={
          <div className="flex flex-wrap gap-2">
            <Button variant="outline" onClick={() => setOpen('edit')}>
              Edit
            </Button>
            <Button variant="outline" onClick={() => update.mutate({ enabled: !enabled })} disabled={update.isPending}>
              {enabled ? 'Disable' : 'Enable'}
            </Button>
            <Button onClick={() => test.mutate()} disabled={test.isPending || !enabled}>
              Send test event
            </Button>
          </div>
        }
      />
      {problem !== null && <Alert>{describeError(problem)}</Alert>}
      <Section>
        <FactList
          facts={[
            ['URL', url],
            [
              'Status',
              <Badge key="status" tone={enabled ? 'good' : 'neutral'}>
                {enabled ? 'Enabled' : 'Disabled'}
              </Badge>,
            ],
            ['Events', events.join(', ')],
            ...(description === '' ? [] : [['Description', description] as const]),
            ['Created', <RelativeTime key="created" at={webhook.createdAt} />],
          ]}
        />
      </Section>
      <Deliveries webhook={webhook} organization={organization} />
      <EquivalentShellCommand command={botcliCommands.listWebhookDeliveries(organization, webhook.id)} />
      <DangerZone>
        <DangerAction title="Delete this webhook" lead="Its secret and the list of its deliveries are deleted, too.">
          <Button variant="danger" onClick={() => setOpen('delete')}>
            Delete webhook
          </Button>
        </DangerAction>
      </DangerZone>
      {open === 'edit' && (
        <WebhookForm
          title="Edit the webhook"
          lead="The secret stays the same."
          initial={{ url, events, description }}
          submit="Save"
          send={(body) => api.updateWebhook({ params, body })}
          command={(values) => botcliCommands.updateWebhook(organization, webhook.id, values)}
          onDone={async () => {
            await refresh('The webhook is changed.');
            setOpen(null);
          }}
          onClose={() => setOpen(null)}
        />
      )}
      {open === 'delete' && (
        <ConfirmDialog
          title="Delete the webhook?"
          lead={`Events are no longer sent to ${url}. This cannot be undone.`}
          action="Delete"
          command={botcliCommands.deleteWebhook(organization, webhook.id)}
          run={() => api.deleteWebhook({ params })}
          onDone={async () => {
            await navigate({ to: '/orgs/$organization/settings/webhooks', params: { organization } });
            await refresh('The webhook is deleted.');
          }}
          onClose={() => setOpen(null)}
        />
      )}
    </>
  );
}

function Deliveries({ webhook, organization }: WebhookProps) {
  const pages = useInfiniteQuery(webhookDeliveriesQuery(organization, webhook.id));
  return (
    <Section
      title="Deliveries"
      lead="Events that are not accepted are sent again for a day, with growing intervals."
      help="webhooks#what-was-delivered"
    >
      <QueryBoundary query={pages}>
        {(data) => (
          <RowList
            label="Deliveries"
            items={data.pages.flatMap((page) => page.deliveries)}
            pages={pages}
            empty={
              <EmptyState icon={Send} title="No deliveries">
                Send a test event to see the response of the receiver.
              </EmptyState>
            }
          >
            {(delivery) => (
              <DeliveryRow
                key={delivery.eventId}
                delivery={delivery}
                organization={organization}
                webhookId={webhook.id}
                isEnabled={webhook.enabled}
              />
            )}
          </RowList>
        )}
      </QueryBoundary>
    </Section>
  );
}

type DeliveryRowProps = {
  readonly delivery: WebhookDelivery;
  readonly organization: string;
  readonly webhookId: string;
  readonly isEnabled: boolean;
};

function DeliveryRow({ delivery, organization, webhookId, isEnabled }: DeliveryRowProps) {
  const { eventId, event, attempts, responseStatus, responseBody, durationMs, error, nextAttemptAt } = delivery;
  const refresh = useRefresh(webhookDeliveriesQuery(organization, webhookId).queryKey);
  const resend = useMutation({
    mutationFn: () => getOrganizationApi(organization).resendWebhookDelivery({ params: { webhookId, eventId } }),
    onSuccess: () => refresh('The event is being sent again.'),
  });
  return (
    <Row
      title={
        <>
          <code className="font-mono text-sm">{event}</code>
          <DeliveryBadge delivery={delivery} />
        </>
      }
      facts={[
        <RelativeTime key="at" at={delivery.createdAt} />,
        ...(responseStatus === null ? [] : [`HTTP ${responseStatus}`]),
        ...(durationMs === null ? [] : [formatLatency(durationMs)]),
        formatCount(attempts, 'attempt'),
        ...(nextAttemptAt === null || error === null ? [] : [<>Next {<RelativeTime at={nextAttemptAt} />}</>]),
        ...(error === null
          ? []
          : [
              <span key="error" className="text-danger">
                {error}
              </span>,
            ]),
        <details key="details" className="w-full">
          <summary className="cursor-pointer hover:text-foreground">Request and response</summary>
          <div className="flex flex-col gap-2 pt-2 text-foreground">
            <span className="text-quiet">Event id {eventId}</span>
            <TextBlock label="Request body" text={JSON.stringify(JSON.parse(delivery.payload), null, 2)} />
            {responseBody !== null && <TextBlock label="Response body" text={responseBody || '(empty)'} />}
            {resend.error !== null && <Alert>{describeError(resend.error)}</Alert>}
          </div>
        </details>,
      ]}
      actions={
        isEnabled && (
          <Button variant="outline" size="small" onClick={() => resend.mutate()} disabled={resend.isPending}>
            Send again
          </Button>
        )
      }
    />
  );
}

function DeliveryBadge({ delivery: { state, error } }: { readonly delivery: WebhookDelivery }) {
  if (state === 'delivered') return <Badge tone="good">Delivered</Badge>;
  if (state === 'failed') return <Badge tone="danger">Failed</Badge>;
  return error === null ? <Badge>Pending</Badge> : <Badge tone="danger">Retrying</Badge>;
}
