import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { userQuery, useUser } from '../accounts/session.ts';
import { formatCurlCommand } from '../commands/shell-command.ts';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { useNotice } from '../components/notice.tsx';
import { Section } from '../components/section.tsx';
import { Select } from '../components/select-field.tsx';
import {
  canCallOperation,
  createOrganizationQueryKey,
  getOrganizationApi,
  type Membership,
} from '../organization/organization.ts';

const origin = location.origin;

/** The section in which a person leaves, transfers or deletes an organization. */
export function DangerZone({ membership }: { readonly membership: Membership }) {
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
    <Section title="Danger zone" isDanger>
      <div className="divide-y divide-line">
        {canCallOperation(membership, 'transferOrganization') && <Transfer membership={membership} />}
        <Danger title="Leave the organization" lead="You lose access at once. An organization always keeps an owner.">
          <Button variant="danger" onClick={() => setOpen('leave')}>
            Leave
          </Button>
        </Danger>
        {canCallOperation(membership, 'deleteOrganization') && (
          <Danger
            title="Delete the organization"
            lead="Revokes its keys and removes its members. It must have no agents and secret sets."
          >
            <Button variant="danger" onClick={() => setOpen('delete')}>
              Delete
            </Button>
          </Danger>
        )}
      </div>
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
    </Section>
  );
}

function Transfer({ membership }: { readonly membership: Membership }) {
  const user = useUser();
  const [userId, setUserId] = useState('');
  const [isOpen, setOpen] = useState(false);
  const queries = useQueryClient();
  const notify = useNotice();
  const organization = membership.name;
  const api = getOrganizationApi(organization);
  const queryKey = [...createOrganizationQueryKey(organization), 'members'];
  const members = useQuery({ queryKey, queryFn: ({ signal }) => api.listMembers({}, signal) });
  const others = members.data?.members.filter((member) => member.userId !== user.id) ?? [];
  const chosen = others.find((member) => member.userId === userId);
  return (
    <Danger
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
          run={() => api.transferOrganization({ body: { userId } })}
          onDone={async () => {
            notify(`${chosen.name} is now owner.`);
            await queries.invalidateQueries({ queryKey });
            await queries.invalidateQueries({ queryKey: userQuery.queryKey });
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </Danger>
  );
}

type DangerProps = { readonly title: string; readonly lead: string; readonly children: ReactNode };

function Danger({ title, lead, children }: DangerProps) {
  return (
    <div className="flex flex-col gap-3 px-5 py-4 sm:flex-row sm:items-center sm:px-6">
      <div className="flex-1">
        <h3 className="font-medium text-sm">{title}</h3>
        <p className="text-quiet text-sm">{lead}</p>
      </div>
      <div className="flex flex-wrap items-center gap-2">{children}</div>
    </div>
  );
}
