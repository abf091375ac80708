import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { userQuery, useUser } from '../accounts/session.ts';
import { formatCurlCommand } from '../commands/shell-command.ts';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { DangerAction, DangerZone } from '../components/danger-zone.tsx';
import { useNotice } from '../components/notice.tsx';
import { Select } from '../components/select-field.tsx';
import { canCallOperation, getOrganizationApi, type Membership } from '../organization/organization.ts';
import { membersQuery } from './queries.ts';

const origin = location.origin;

/** The section in which a person leaves, transfers or deletes an organization. */
export function OrganizationDangerZone({ membership }: { readonly membership: Membership }) {
  const [open, setOpen] = useState<'leave' | 'delete' | null>(null);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const notify = useNotice();
  const api = getOrganizationApi(membership.name);
  const { name: organization, verboseName } = membership;
  const goAway = async (text: string) => {
    await navigate({ to: '/orgs' });
    await queries.invalidateQueries({ queryKey: userQuery.queryKey });
    notify(text);
  };
  return (
    <DangerZone>
      {canCallOperation(membership, 'transferOrganization') && <Transfer membership={membership} />}
      <DangerAction
        title="Leave the organization"
        lead="You lose access at once. An organization always keeps an owner."
      >
        <Button variant="danger" onClick={() => setOpen('leave')}>
          Leave
        </Button>
      </DangerAction>
      {canCallOperation(membership, 'deleteOrganization') && (
        <DangerAction
          title="Delete the organization"
          lead="Revokes its keys and removes its members. It must have no agents, no secret sets and no keys of phone carriers or Daily."
        >
          <Button variant="danger" onClick={() => setOpen('delete')}>
            Delete
          </Button>
        </DangerAction>
      )}
      {open === 'leave' && (
        <ConfirmDialog
          title={`Leave ${verboseName}?`}
          lead="You lose access at once. To return, you need an invitation."
          action="Leave organization"
          command={formatCurlCommand('leaveOrganization', { origin, organization, body: {} })}
          run={() => api.leaveOrganization({ body: {} })}
          onDone={() => goAway(`You left ${verboseName}.`)}
          onClose={() => setOpen(null)}
        />
      )}
      {open === 'delete' && (
        <ConfirmDialog
          title={`Delete ${verboseName}?`}
          lead="This cannot be undone. Its records of sessions stay until their retention ends."
          action="Delete organization"
          phrase={organization}
          command={formatCurlCommand('deleteOrganization', { origin, organization })}
          run={() => api.deleteOrganization()}
          onDone={() => goAway(`${verboseName} is deleted.`)}
          onClose={() => setOpen(null)}
        />
      )}
    </DangerZone>
  );
}

function Transfer({ membership }: { readonly membership: Membership }) {
  const user = useUser();
  const [userId, setUserId] = useState('');
  const [isOpen, setOpen] = useState(false);
  const queries = useQueryClient();
  const notify = useNotice();
  const organization = membership.name;
  const query = membersQuery(organization);
  const members = useQuery(query);
  const others = members.data?.members.filter((member) => member.userId !== user.id) ?? [];
  const chosen = others.find((member) => member.userId === userId);
  return (
    <DangerAction
      title="Transfer the organization"
      lead={
        others.length === 0
          ? 'Invite another person first, who can become its owner.'
          : 'Another member becomes owner, and you become a member.'
      }
    >
      {others.length > 0 && (
        <Select
          aria-label="New owner"
          options={[['', 'Choose a member'], ...others.map(({ userId: id, name }) => [id, name] as const)]}
          value={userId}
          onValue={setUserId}
        />
      )}
      <Button variant="danger" disabled={chosen === undefined} onClick={() => setOpen(true)}>
        Transfer
      </Button>
      {isOpen && chosen !== undefined && (
        <ConfirmDialog
          title={`Make ${chosen.name} the owner?`}
          lead={`${chosen.email} becomes owner of ${membership.verboseName}. You become a member, and cannot undo this yourself.`}
          action="Transfer organization"
          command={formatCurlCommand('transferOrganization', { origin, organization, body: { userId } })}
          run={() => getOrganizationApi(organization).transferOrganization({ body: { userId } })}
          onDone={async () => {
            notify(`${chosen.name} is now owner.`);
            await queries.invalidateQueries({ queryKey: query.queryKey });
            await queries.invalidateQueries({ queryKey: userQuery.queryKey });
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </DangerAction>
  );
}
