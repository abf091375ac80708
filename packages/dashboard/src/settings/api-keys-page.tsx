import type { ApiKey } from '@bothost/contract';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { KeyRound, Lock, Plus } from 'lucide-react';
import { useState } from 'react';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { CopyableText } from '../components/copyable-text.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { RowList } from '../components/row-list.tsx';
import { PageHeader, Section } from '../components/section.tsx';
import { useRefresh } from '../components/use-refresh.ts';
import { canCallOperation, getOrganizationApi, useMembership } from '../organization/organization.ts';
import { CreateCredentialDialog } from './create-credential-dialog.tsx';
import { CredentialRow } from './credential-row.tsx';
import { getCredentialStatus } from './credential-status.ts';
import { parseLifetimeSeconds } from './lifetimes.ts';
import { apiKeysQuery } from './queries.ts';

type Kind = ApiKey['kind'];

const route = getRouteApi('/signed-in/app/orgs/$organization/settings/keys');
const kinds: readonly (readonly [Kind, string])[] = [
  ['private', 'Private'],
  ['public', 'Public'],
];
const descriptions: Readonly<Record<Kind, string>> = {
  private: 'A private key can do everything in this organization except manage people. Keep it on your servers.',
  public: 'A public key can only start sessions and connect to them. Web pages and apps may contain it.',
};

/** The page at `/orgs/:organization/settings/keys`: private API keys or, with `?kind=public`, public API keys. */
export function ApiKeysPage() {
  const membership = useMembership();
  return (
    <>
      <PageHeader title="API keys" lead="Programs use API keys. They belong to the organization, not to a person." />
      {canCallOperation(membership, 'listKeys') ? (
        <Keys organization={membership.name} />
      ) : (
        <Section>
          <EmptyState icon={Lock} title="Only owners see and create API keys">
            Your role in this organization is {membership.role}. Ask an owner for a key, or use a personal token, which
            acts with your own role.
            <Button asChild variant="outline">
              <Link to="/settings/tokens">Personal tokens</Link>
            </Button>
          </EmptyState>
        </Section>
      )}
    </>
  );
}

function Keys({ organization }: { readonly organization: string }) {
  const { kind = 'private' } = route.useSearch();
  const [open, setOpen] = useState<'create' | ApiKey | null>(null);
  const api = getOrganizationApi(organization);
  const query = apiKeysQuery(organization);
  const refresh = useRefresh(query.queryKey);
  const keys = useQuery(query);
  const close = () => setOpen(null);
  const create = async (name: string, days: string) => {
    const { key } = await api.createKey({ body: { name, kind, expiresInSeconds: parseLifetimeSeconds(days) } });
    await refresh();
    return key;
  };
  const createButton = (
    <Button onClick={() => setOpen('create')}>
      <Plus aria-hidden="true" className="size-4" />
      Create key
    </Button>
  );
  return (
    <>
      <nav aria-label="Kind of key" className="flex gap-5 border-line border-b">
        {kinds.map(([value, label]) => (
          <Link
            key={value}
            to="/orgs/$organization/settings/keys"
            params={{ organization }}
            search={value === 'public' ? { kind: value } : {}}
            activeOptions={{ exact: true }}
            className="-mb-px border-transparent border-b-2 pb-2.5 text-quiet text-sm hover:text-foreground aria-[current]:border-accent aria-[current]:font-medium aria-[current]:text-foreground"
          >
            {label}
          </Link>
        ))}
      </nav>
      <Section
        title={`${kind === 'private' ? 'Private' : 'Public'} keys`}
        lead={descriptions[kind]}
        actions={createButton}
      >
        <QueryBoundary query={keys}>
          {(data) => <KeyList kind={kind} keys={data.keys.filter((key) => key.kind === kind)} onRevoke={setOpen} />}
        </QueryBoundary>
      </Section>
      <EquivalentShellCommand command={botcliCommands.listKeys(organization)} />
      {open === 'create' && (
        <CreateCredentialDialog
          kind={`${kind} key`}
          lead={descriptions[kind]}
          namePlaceholder={kind === 'private' ? 'Production server' : 'Website'}
          defaultDays={kind === 'private' ? '90' : ''}
          create={create}
          command={(name, days) => botcliCommands.createKey(organization, name, kind, days)}
          usage={<KeyUsage kind={kind} />}
          onClose={close}
        />
      )}
      {open !== null && open !== 'create' && (
        <ConfirmDialog
          title={`Revoke ${open.name}?`}
          lead="Programs that use this key are refused at once. A revoked key cannot be restored."
          action="Revoke key"
          command={botcliCommands.revokeKey(organization, open.id)}
          run={() => api.revokeKey({ params: { keyId: open.id } })}
          onDone={() => refresh(`The key ${open.name} is revoked.`)}
          onClose={close}
        />
      )}
    </>
  );
}

type KeyListProps = {
  readonly kind: Kind;
  readonly keys: readonly ApiKey[];
  readonly onRevoke: (key: ApiKey) => void;
};

function KeyList({ kind, keys, onRevoke }: KeyListProps) {
  const now = new Date();
  const usable = keys.filter((key) => getCredentialStatus(key, now) === 'active');
  const past = keys.filter((key) => getCredentialStatus(key, now) !== 'active');
  return (
    <>
      <RowList
        label={`Active ${kind} keys`}
        items={usable}
        empty={
          <EmptyState icon={KeyRound} title={`No active ${kind} keys`}>
            Create one to call the API from {kind === 'private' ? 'your servers and scripts' : 'web pages and apps'}.
          </EmptyState>
        }
      >
        {(key) => <CredentialRow key={key.id} credential={key} onRevoke={() => onRevoke(key)} />}
      </RowList>
      {past.length > 0 && (
        <details className="border-line border-t">
          <summary className="cursor-pointer px-5 py-3 text-quiet text-sm hover:text-foreground sm:px-6">
            Expired and revoked keys ({past.length})
          </summary>
          <RowList label={`Expired and revoked ${kind} keys`} items={past}>
            {(key) => <CredentialRow key={key.id} credential={key} onRevoke={() => onRevoke(key)} />}
          </RowList>
        </details>
      )}
    </>
  );
}

function KeyUsage({ kind }: { readonly kind: Kind }) {
  const command =
    kind === 'private'
      ? `curl -H "Authorization: Bearer $PRIVATE_KEY" ${location.origin}/v1/agents`
      : `curl -H "Authorization: Bearer $PUBLIC_KEY" -d '{}' ${location.origin}/v1/public/AGENT/start`;
  return (
    <>
      <p>{kind === 'private' ? 'List the agents of the organization:' : 'Start a session of an agent:'}</p>
      <CopyableText text={command} name="command" />
    </>
  );
}
