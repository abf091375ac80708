import type { Member } from '@bothost/contract';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { userQuery, useUser } from '../accounts/session.ts';
import { describeError } from '../api.ts';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { Alert } from '../components/alert.tsx';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { Row, RowList } from '../components/row-list.tsx';
import { PageHeader, Section } from '../components/section.tsx';
import { Select } from '../components/select-field.tsx';
import { RelativeTime } from '../components/time.tsx';
import { useRefresh } from '../components/use-refresh.ts';
import { canCallOperation, getOrganizationApi, useMembership } from '../organization/organization.ts';
import { Invitations } from './invitations.tsx';
import { membersQuery } from './queries.ts';
import { parseRole, roleOptions } from './role-options.ts';

/** The page at `/orgs/:organization/settings/members`: the organization's members and pending invitations. */
export function MembersPage() {
  const membership = useMembership();
  return (
    <>
      <PageHeader title="Members" lead={`People who can sign in to ${membership.verboseName}, and what they may do.`} />
      <Members />
      {canCallOperation(membership, 'listInvitations') && <Invitations organization={membership.name} />}
    </>
  );
}

function Members() {
  const membership = useMembership();
  const user = useUser();
  const [removed, setRemoved] = useState<Member | null>(null);
  const organization = membership.name;
  const api = getOrganizationApi(organization);
  const query = membersQuery(organization);
  const refresh = useRefresh(query.queryKey);
  const refreshUser = useRefresh(userQuery.queryKey);
  const members = useQuery(query);
  const change = useMutation({
    mutationFn: ({ member, role }: { readonly member: Member; readonly role: string }) =>
      api.updateMember({ params: { userId: member.userId }, body: { role: parseRole(role) } }),
    onSuccess: ({ name, role }) => refresh(`${name} is now ${role}.`),
    onError: () => refresh(),
    // Reload the signed-in person too, because their own role may have changed, and the role decides what the pages show.
    onSettled: () => refreshUser(),
  });
  return (
    <>
      <Section title="People">
        {change.error !== null && (
          <div className="px-5 pt-4 sm:px-6">
            <Alert>{describeError(change.error)}</Alert>
          </div>
        )}
        <QueryBoundary query={members}>
          {(data) => (
            <RowList label="Members" items={data.members}>
              {(member) => (
                <Row
                  key={member.userId}
                  title={
                    <>
                      {member.name}
                      {member.userId === user.id && <Badge>You</Badge>}
                    </>
                  }
                  facts={[
                    member.email,
                    <>
                      Joined <RelativeTime at={member.joinedAt} />
                    </>,
                  ]}
                  actions={
                    canCallOperation(membership, 'updateMember') ? (
                      <>
                        <Select
                          aria-label={`Role of ${member.name}`}
                          options={roleOptions}
                          value={member.role}
                          disabled={change.isPending}
                          onValue={(role) => change.mutate({ member, role })}
                        />
                        {member.userId !== user.id && (
                          <Button
                            variant="danger"
                            onClick={() => setRemoved(member)}
                            aria-label={`Remove ${member.name}`}
                          >
                            Remove
                          </Button>
                        )}
                      </>
                    ) : (
                      <Badge>{member.role}</Badge>
                    )
                  }
                />
              )}
            </RowList>
          )}
        </QueryBoundary>
      </Section>
      <EquivalentShellCommand command={botcliCommands.listMembers(organization)} />
      {removed !== null && (
        <ConfirmDialog
          title={`Remove ${removed.name}?`}
          lead={`${removed.email} loses access to ${membership.verboseName} at once. API keys that this person created stay valid.`}
          action="Remove member"
          command={botcliCommands.removeMember(organization, removed.email)}
          run={() => api.removeMember({ params: { userId: removed.userId } })}
          onDone={() => refresh(`${removed.name} is removed.`)}
          onClose={() => setRemoved(null)}
        />
      )}
    </>
  );
}
