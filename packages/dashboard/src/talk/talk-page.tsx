import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, Navigate } from '@tanstack/react-router';
import { useState } from 'react';
import { userQuery } from '../accounts/session.ts';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { Alert } from '../components/alert.tsx';
import { Button } from '../components/button.tsx';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { Row, RowList } from '../components/row-list.tsx';
import { PageHeader, Section } from '../components/section.tsx';
import { AgentConversation } from './agent-conversation.tsx';
import { PublicApiKeyForm } from './public-api-key-form.tsx';
import { getUrlFragmentKeyProblem, loadPublicApiKey, storePublicApiKey } from './public-key.ts';
import { organizationsWithAgentQuery } from './queries.ts';

const route = getRouteApi('/shell/talk/$agent');

/**
 * The page at `/talk/:agent`. With a public key (`pk_...`), people without an account talk to an agent. A signed-in person is
 * redirected to the agent in their organization.
 */
export function TalkPage() {
  const { agent } = route.useParams();
  const [publicKey, setPublicKey] = useState(() => loadPublicApiKey({ location, history, storage: sessionStorage }));
  const changeKey = (key: string | undefined) => {
    storePublicApiKey(sessionStorage, key);
    setPublicKey(key);
  };
  return (
    <div className="mx-auto flex w-full max-w-6xl flex-col gap-6">
      <PageHeader title={`Talk to ${agent}`} />
      {publicKey === undefined ? (
        <TalkWithoutKey agent={agent} onKey={changeKey} />
      ) : (
        <AgentConversation agent={agent} access={{ publicKey }} onForgetKey={() => changeKey(undefined)} />
      )}
    </div>
  );
}

type TalkWithoutKeyProps = { readonly agent: string; readonly onKey: (key: string) => void };

/** Finds the agent in the organizations of a signed-in person. Asks others for a public key. */
function TalkWithoutKey({ agent, onKey }: TalkWithoutKeyProps) {
  const { transport } = route.useSearch();
  const { data: user, isPending } = useQuery(userQuery);
  const ownNames = user?.organizations.map(({ name }) => name) ?? [];
  const found = useQuery({ ...organizationsWithAgentQuery(ownNames, agent), enabled: user != null });
  if (isPending) return null;
  const form = <PublicApiKeyForm linkProblem={getUrlFragmentKeyProblem()} help={<KeyHelp />} onKey={onKey} />;
  if (user === null) return form;
  return (
    <QueryBoundary query={found}>
      {(names) => {
        const [only] = names;
        if (only === undefined) {
          return (
            <>
              <Alert>
                None of your organizations has an agent {agent}. With a key, you can talk to one of another.
              </Alert>
              {form}
            </>
          );
        }
        const search = transport === undefined ? {} : { transport };
        const to = { to: '/orgs/$organization/talk/$agent', search } as const;
        if (names.length === 1) return <Navigate {...to} params={{ organization: only, agent }} replace />;
        return (
          <Section title="In which organization?" lead={`Several of your organizations have an agent ${agent}.`}>
            <RowList label="Organizations" items={names}>
              {(organization) => (
                <Row
                  key={organization}
                  title={organization}
                  actions={
                    <Button asChild variant="outline">
                      <Link {...to} params={{ organization, agent }} aria-label={`Talk to ${agent} of ${organization}`}>
                        Talk
                      </Link>
                    </Button>
                  }
                />
              )}
            </RowList>
          </Section>
        );
      }}
    </QueryBoundary>
  );
}

function KeyHelp() {
  return (
    <p>
      The service created a public key of your organization at its first start: it is <code>public_key</code> in the
      profile whose path <code>{botcliCommands.showLogin()}</code> shows. To create another, run{' '}
      <code>{botcliCommands.createKey(null, 'NAME', 'public', '')}</code>. Only this browser tab stores the key.
    </p>
  );
}
