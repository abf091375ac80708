import type { User } from '@bothost/contract';
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { readOrganizationApiKey, storeOrganizationApiKey } from '../accounts/organization-keys.ts';
import { useUser } from '../accounts/session.ts';
import { agentNamesQuery } from '../agents/agent-queries.ts';
import { describeError } from '../api.ts';
import { formatCloudCommand } from '../commands/shell-command.ts';
import { Alert } from '../components/alert.tsx';
import { Button } from '../components/button.tsx';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { QueryBoundary } from '../components/loaded.tsx';
import { PageHeader, Section } from '../components/section.tsx';
import { Select } from '../components/select-field.tsx';
import { canCallOperation, getOrganizationApi, type Membership, useMembership } from '../organization/organization.ts';
import { AgentConversation } from './agent-conversation.tsx';
import { PublicApiKeyForm } from './public-api-key-form.tsx';

const route = getRouteApi('/signed-in/app/orgs/$organization/talk/$agent');

/** The page at `/orgs/:organization/talk/:agent`: a conversation with an agent of the person's organization. */
export function OrganizationTalkPage() {
  const membership = useMembership();
  const { agent } = route.useParams();
  const navigate = useNavigate();
  const [publicKey, setPublicKey] = useState(() => readOrganizationApiKey(membership.id));
  const changeKey = (key: string | undefined) => {
    storeOrganizationApiKey(membership.id, key);
    setPublicKey(key);
  };
  const agents = useQuery(agentNamesQuery(membership.name));
  return (
    <div className="flex flex-col gap-6">
      <PageHeader
        title={`Talk to ${agent}`}
        actions={
          agents.data !== undefined &&
          agents.data.agents.length > 1 && (
            <Select
              aria-label="Agent"
              options={agents.data.agents.map(({ name }) => [name, name] as const)}
              value={agent}
              onValue={(name) =>
                void navigate({
                  to: '/orgs/$organization/talk/$agent',
                  params: { organization: membership.name, agent: name },
                })
              }
            />
          )
        }
      />
      <QueryBoundary query={agents}>
        {(data) => {
          if (!data.agents.some(({ name }) => name === agent)) return <UnknownAgent organization={membership.name} />;
          if (publicKey === undefined) return <ChooseKey membership={membership} onKey={changeKey} />;
          return <AgentConversation agent={agent} publicKey={publicKey} onForgetKey={() => changeKey(undefined)} />;
        }}
      </QueryBoundary>
    </div>
  );
}

function UnknownAgent({ organization }: { readonly organization: string }) {
  return (
    <div className="flex flex-col items-start gap-4">
      <Alert>This organization has no agent with this name.</Alert>
      <Button asChild variant="outline">
        <Link to="/orgs/$organization/talk" params={{ organization }}>
          Show all agents
        </Link>
      </Button>
    </div>
  );
}

const keyDays = 30;
const keyName = ({ email }: User) => `Talk page of ${email}`.slice(0, 100);

type ChooseKeyProps = { readonly membership: Membership; readonly onKey: (key: string) => void };

/** Asks for the public key with which the page starts sessions. Owners can create a key here; others paste one. */
function ChooseKey({ membership, onKey }: ChooseKeyProps) {
  const user = useUser();
  const creation = useMutation({
    mutationFn: () =>
      getOrganizationApi(membership.name).createKey({
        body: { name: keyName(user), kind: 'public', expiresInSeconds: keyDays * 86_400 },
      }),
    onSuccess: ({ key }) => onKey(key),
  });
  if (!canCallOperation(membership, 'createKey')) {
    return (
      <PublicApiKeyForm
        linkProblem={undefined}
        help="Ask an owner of the organization for a public key. This browser keeps it until you sign out."
        onKey={onKey}
      />
    );
  }
  return (
    <Section
      title="Sessions start with a key"
      lead={`Create one for this browser. It is valid for ${keyDays} days, and you can revoke it in the settings.`}
    >
      <div className="flex flex-col items-start gap-4 p-5 sm:p-6">
        {creation.error !== null && <Alert>{describeError(creation.error)}</Alert>}
        <Button onClick={() => creation.mutate()} disabled={creation.isPending}>
          {creation.isPending ? 'Creating…' : 'Create a public key'}
        </Button>
        <EquivalentShellCommand
          command={formatCloudCommand(
            membership.name,
            ...['keys', 'create', keyName(user), '--kind', 'public', '--expires', `${keyDays}d`],
          )}
        />
      </div>
    </Section>
  );
}
