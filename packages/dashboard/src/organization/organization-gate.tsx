import { getRouteApi, Link, Outlet } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useUser } from '../accounts/session.ts';
import { Button } from '../components/button.tsx';
import { Card } from '../components/card.tsx';
import { findMembership, MembershipContext, rememberOrganization } from './organization.ts';

const route = getRouteApi('/signed-in/app/orgs/$organization');

/** Renders its child pages only if the person is a member of the organization in the URL. */
export function OrganizationGate() {
  const { organization } = route.useParams();
  const membership = findMembership(useUser(), organization);
  useEffect(() => {
    if (membership !== undefined) rememberOrganization(membership);
  }, [membership]);
  if (membership === undefined) {
    return (
      <Card
        title="Organization not found"
        lead={`There is no organization ${organization}, or you are not a member of it. Ask one of its owners for an invitation.`}
      >
        <Button asChild>
          <Link to="/orgs">Show your organizations</Link>
        </Button>
      </Card>
    );
  }
  // The key makes React discard the state of dialogs and forms when the organization changes.
  return (
    <MembershipContext key={membership.id} value={membership}>
      <Outlet />
    </MembershipContext>
  );
}
