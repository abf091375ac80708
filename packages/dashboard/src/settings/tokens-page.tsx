import type { PersonalToken } from '@bothost/contract';
import { useQuery } from '@tanstack/react-query';
import { KeyRound, Plus } from 'lucide-react';
import { useState } from 'react';
import { apiClient } from '../api.ts';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { formatCurlCommand } from '../commands/shell-command.ts';
import { Badge } from '../components/badge.tsx';
import { BotcliInstallation } from '../components/botcli-installation.tsx';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { CopyableText } from '../components/copyable-text.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { RowList } from '../components/row-list.tsx';
import { PageHeader, Section } from '../components/section.tsx';
import { useRefresh } from '../components/use-refresh.ts';
import { CreateCredentialDialog } from './create-credential-dialog.tsx';
import { CredentialRow } from './credential-row.tsx';
import { parseLifetimeSeconds } from './lifetimes.ts';
import { personalTokensQuery } from './queries.ts';

const origin = location.origin;

/** The page at `/settings/tokens`: the person's access tokens, including tokens from logins of command-line programs. */
export function TokensPage() {
  const [open, setOpen] = useState<'create' | PersonalToken | null>(null);
  const refresh = useRefresh(personalTokensQuery.queryKey);
  const tokens = useQuery(personalTokensQuery);
  const close = () => setOpen(null);
  return (
    <>
      <PageHeader
        title="Personal tokens"
        lead="A personal token acts as you, with your role in each organization. For programs on servers, use an API key."
        actions={
          <Button onClick={() => setOpen('create')}>
            <Plus aria-hidden="true" className="size-4" />
            Create token
          </Button>
        }
      />
      <Section>
        <QueryBoundary query={tokens}>
          {(data) => (
            <RowList
              label="Personal tokens"
              items={data.tokens}
              empty={
                <EmptyState icon={KeyRound} title="You have no personal tokens">
                  Create one for scripts, or log in with the command line, which creates its own:
                  <div className="flex w-full flex-col gap-2 text-left">
                    <CopyableText text={botcliCommands.logIn(origin)} name="command" />
                    <BotcliInstallation />
                  </div>
                </EmptyState>
              }
            >
              {(token) => (
                <CredentialRow
                  key={token.id}
                  credential={token}
                  badge={token.createdBy === 'device-login' && <Badge tone="accent">Command line</Badge>}
                  onRevoke={() => setOpen(token)}
                />
              )}
            </RowList>
          )}
        </QueryBoundary>
      </Section>
      <EquivalentShellCommand command={formatCurlCommand('listPersonalTokens', { origin })} />
      {open === 'create' && (
        <CreateCredentialDialog
          kind="personal token"
          lead="Whoever has the token can do everything that you can do, except change your account."
          namePlaceholder="Laptop"
          defaultDays="90"
          create={async (name, days) => {
            const { token } = await apiClient.createPersonalToken({
              body: { name, expiresInSeconds: parseLifetimeSeconds(days) },
            });
            await refresh();
            return token;
          }}
          usage={
            <>
              <p>Use it with the command line, which asks for the token:</p>
              <CopyableText text={botcliCommands.storeToken(origin)} name="command" />
              <BotcliInstallation />
            </>
          }
          onClose={close}
        />
      )}
      {open !== null && open !== 'create' && (
        <ConfirmDialog
          title={`Revoke ${open.name}?`}
          lead="Programs that use this token are refused at once. A revoked token cannot be restored."
          action="Revoke token"
          command={formatCurlCommand('revokePersonalToken', { origin, params: { tokenId: open.id } })}
          run={() => apiClient.revokePersonalToken({ params: { tokenId: open.id } })}
          onDone={() => refresh(`The token ${open.name} is revoked.`)}
          onClose={close}
        />
      )}
    </>
  );
}
