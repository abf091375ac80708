import type { AttentionItem } from '@bothost/contract';
import { Link } from '@tanstack/react-router';
import { AgentBadges } from '../components/agent-badges.tsx';
import { Button } from '../components/button.tsx';
import { Row } from '../components/row-list.tsx';
import { RelativeTime } from '../components/time.tsx';
import { AgentLinks } from '../statistics/agent-links.tsx';

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

type SameProblem = readonly [AttentionItem, ...(readonly AttentionItem[])];

/** Joins the problems of agents that are of the same kind and have the same cause. */
export function groupAttention(items: readonly AttentionItem[]): readonly SameProblem[] {
  const groups = new Map<string, SameProblem>();
  for (const item of items) {
    const key = `${item.kind} ${item.cause}`;
    const [first, ...others] = groups.get(key) ?? [];
    groups.set(key, first === undefined ? [item] : [first, ...others, item]);
  }
  return [...groups.values()];
}

type AttentionRowProps = { readonly organization: string; readonly items: SameProblem };

/** A row for a problem of one agent or several, with its cause, the next step, and a link to the page for that step. */
export function AttentionRow({ organization, items }: AttentionRowProps) {
  const [item, ...others] = items;
  const { kind, agentName, cause } = item;
  const { title, advice, action, tab } = nextSteps[kind];
  const since = items.flatMap((one) => one.since ?? []).toSorted()[0];
  const causeAndTime = [
    <span key="cause" className="text-foreground">
      {cause}
    </span>,
    ...(since === undefined ? [] : [<RelativeTime key="since" at={since} />]),
    advice,
  ];
  if (others.length > 0) {
    return (
      <Row
        title={`${title}: ${items.length} agents`}
        facts={[...causeAndTime, <AgentLinks key="agents" organization={organization} tab={tab} agents={items} />]}
      />
    );
  }
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
      facts={causeAndTime}
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
