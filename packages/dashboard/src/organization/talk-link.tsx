import { Link } from '@tanstack/react-router';
import { Mic } from 'lucide-react';
import type { ComponentProps } from 'react';
import { Button } from '../components/button.tsx';
import { useMembership } from './organization.ts';

type TalkLinkProps = Pick<ComponentProps<typeof Button>, 'variant' | 'size'> & {
  readonly agent: string;
  /** Whether the link names the agent. */
  readonly isNamed?: boolean;
};

/** A link to the talk page of an agent. */
export function TalkLink({ agent, isNamed = false, variant = 'outline', size }: TalkLinkProps) {
  const { name: organization } = useMembership();
  return (
    <Button asChild variant={variant} size={size}>
      <Link
        to="/orgs/$organization/talk/$agent"
        params={{ organization, agent }}
        preload={false}
        aria-label={`Talk to ${agent}`}
      >
        <Mic aria-hidden="true" className="size-4" />
        {isNamed ? `Talk to ${agent}` : 'Talk'}
      </Link>
    </Button>
  );
}
