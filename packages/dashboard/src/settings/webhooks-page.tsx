import type { Webhook } from '@bothost/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Lock, Plus, Webhook as WebhookIcon } from 'lucide-react';
import { useState } from 'react';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { Row, RowList } from '../components/row-list.tsx';
import { PageHeader, Section } from '../components/section.tsx';
import { RelativeTime } from '../components/time.tsx';
import { useRefresh } from '../components/use-refresh.ts';
import { canCallOperation, getOrganizationApi, useMembership } from '../organization/organization.ts';
import { OneTimeValueDialog } from './one-time-value-dialog.tsx';
import { webhooksQuery } from './queries.ts';
import { WebhookForm } from './webhook-form.tsx';

/** The page at `/orgs/:organization/settings/webhooks`. */
export function WebhooksPage() {
  const membership = useMembership();
  return (
    <>
      <PageHeader
        title="Webhooks"
        lead="The service sends events, such as failed sessions, to these addresses. Each request is signed."
      />
      {canCallOperation(membership, 'listWebhooks') ? (
        <Webhooks organization={membership.name} />
      ) : (
        <Section>
          <EmptyState icon={Lock} title="Viewers do not see webhooks">
            The address of a webhook may contain a credential. Ask an owner or a member.
          </EmptyState>
        </Section>
      )}
    </>
  );
}

function Webhooks({ organization }: { readonly organization: string }) {
  const [isCreating, setCreating] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const api = getOrganizationApi(organization);
  const query = webhooksQuery(organization);
  const refresh = useRefresh(query.queryKey);
  const webhooks = useQuery(query);
  return (
    <>
      <Section
        title="Addresses"
        actions={
          <Button onClick={() => setCreating(true)}>
            <Plus aria-hidden="true" className="size-4" />
            Create webhook
          </Button>
        }
      >
        <QueryBoundary query={webhooks}>
          {(data) => (
            <RowList
              label="Webhooks"
              items={data.webhooks}
              empty={
                <EmptyState icon={WebhookIcon} title="No webhooks">
                  Create one to get a request when sessions start, end or fail, or deployments are ready or fail.
                </EmptyState>
              }
            >
              {(webhook) => <WebhookRow key={webhook.id} organization={organization} webhook={webhook} />}
            </RowList>
          )}
        </QueryBoundary>
      </Section>
      <EquivalentShellCommand command={botcliCommands.listWebhooks(organization)} />
      {isCreating && (
        <WebhookForm
          title="Create a webhook"
          initial={{ url: '', events: ['session.failed', 'deployment.failed'], description: '' }}
          submit="Create"
          send={(body) => api.createWebhook({ body })}
          command={(values) => botcliCommands.createWebhook(organization, values)}
          onDone={async (created) => {
            await refresh();
            setCreating(false);
            setSecret(created.secret);
          }}
          onClose={() => setCreating(false)}
        />
      )}
      {secret !== null && (
        <OneTimeValueDialog
          title="Copy the secret of the webhook"
          lead="The receiver verifies signatures with it. Store it now. It is not shown again."
          value={secret}
          name="secret"
          onClose={() => setSecret(null)}
        />
      )}
    </>
  );
}

function WebhookRow({ organization, webhook }: { readonly organization: string; readonly webhook: Webhook }) {
  return (
    <Row
      title={
        <>
          <Link
            to="/orgs/$organization/settings/webhooks/$webhookId"
            params={{ organization, webhookId: webhook.id }}
            className="hover:underline"
          >
            {webhook.url}
          </Link>
          {!webhook.enabled && <Badge>Disabled</Badge>}
        </>
      }
      facts={[
        ...(webhook.description === '' ? [] : [webhook.description]),
        webhook.events.join(', '),
        <>Created {<RelativeTime at={webhook.createdAt} />}</>,
      ]}
    />
  );
}
