import type { AttentionItem } from '@bothost/contract';
import { Link } from '@tanstack/react-router';
import { AgentBadges } from '../components/agent-badges.tsx';
import { Button } from '../components/button.tsx';
import { Row } from '../components/row-list.tsx';
import { RelativeTime } from '../components/time.tsx';

type NextStep = {
  readonly title: string;
  readonly advice: string;
  readonly action: string;
  readonly tab: '/deployments' | '/logs' | '/settings' | '/sessions';
};

const nextSteps: Readonly<Record<AttentionItem['kind'], NextStep>> = {
  'deployment-failed': {
    title: 'The last deploy failed',
    advice: 'See why, then fix the project and deploy it again.',
    action: 'Deployments',
    tab: '/deployments',
  },
  'starts-failing': {
    title: 'Its instances do not start',
    advice: 'Read what the bot wrote last. To use the previous version, roll back.',
    action: 'Logs',
    tab: '/logs',
  },
  'at-capacity': {
    title: 'At its limit of sessions',
    advice: 'Wait for sessions to end, or raise the maximum of instances.',
    action: 'Settings',
    tab: '/settings',
  },
  'sessions-failed': {
    title: 'Sessions failed',
    advice: 'Read what the bot wrote in the latest one.',
    action: 'Sessions',
    tab: '/sessions',
  },
};

/** A row for a problem of an agent, with its cause, the next step, and a link to the page for that step. */
export function AttentionRow({ organization, item }: { readonly organization: string; readonly item: AttentionItem }) {
  const { kind, agentName, cause, since } = item;
  const { title, advice, action, tab } = nextSteps[kind];
  const params = { organization, agent: agentName };
  return (
    <Row
      title={
        <>
          <Link
            to="/orgs/$organization/agents/$agent"
            params={params}
            className="wrap-anywhere underline-offset-4 hover:underline"
          >
            {agentName}: {title}
          </Link>
          <AgentBadges status={item} />
        </>
      }
      facts={[
        <span key="cause" className="text-foreground">
          {cause}
        </span>,
        ...(since === null ? [] : [<RelativeTime key="since" at={since} />]),
        advice,
      ]}
      actions={
        <Button asChild variant="outline" size="small">
          <Link to={`/orgs/$organization/agents/$agent${tab}`} params={params} aria-label={`${action} of ${agentName}`}>
            {action}
          </Link>
        </Button>
      }
    />
  );
}
