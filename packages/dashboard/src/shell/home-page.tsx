import { useQuery } from '@tanstack/react-query';
import { Navigate, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { userQuery } from '../accounts/session.ts';
import { BotcliInstallation } from '../components/botcli-installation.tsx';
import { Button } from '../components/button.tsx';
import { Card } from '../components/card.tsx';
import { identifierInput, TextField } from '../components/text-field.tsx';
import { findPreferredMembership } from '../organization/organization.ts';

/**
 * The page at `/`: redirects a signed-in person to their organization, and asks a signed-out person for an agent to talk to.
 */
export function HomePage() {
  const { data: user, isPending } = useQuery(userQuery);
  if (isPending) return null;
  if (user == null) return <Welcome />;
  const membership = findPreferredMembership(user);
  if (membership === undefined) return <Navigate to="/orgs" replace />;
  return <Navigate to="/orgs/$organization" params={{ organization: membership.name }} replace />;
}

function Welcome() {
  const [agent, setAgent] = useState('parrot');
  const navigate = useNavigate();
  const openTalkPage = (event: FormEvent) => {
    event.preventDefault();
    if (agent.trim() !== '') void navigate({ to: '/talk/$agent', params: { agent: agent.trim() } });
  };
  return (
    <Card
      title="Your voice bots"
      lead="This service runs voice bots on your own machine. It comes with one: a parrot, which repeats what it hears."
    >
      <form className="flex flex-col gap-4" onSubmit={openTalkPage}>
        <TextField label="Agent" value={agent} onValue={setAgent} required {...identifierInput} />
        <Button type="submit">Talk to it</Button>
      </form>
      <p className="text-quiet text-sm">
        For everything else, use <code className="font-mono">botcli</code> or the{' '}
        <a href="/docs" className="text-accent underline">
          API
        </a>
        . The{' '}
        <a href="/help" className="text-accent underline">
          help
        </a>{' '}
        has the documents of this version.
      </p>
      <BotcliInstallation />
    </Card>
  );
}
