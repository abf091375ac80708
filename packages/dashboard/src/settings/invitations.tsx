import type { Invitation, Role } from '@bothost/contract';
import { useQuery } from '@tanstack/react-query';
import { MailPlus, Plus } from 'lucide-react';
import { useState } from 'react';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { formatCurlCommand } from '../commands/shell-command.ts';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { DialogForm } from '../components/dialog-form.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { Row, RowList } from '../components/row-list.tsx';
import { Section } from '../components/section.tsx';
import { SelectField } from '../components/select-field.tsx';
import { TextField } from '../components/text-field.tsx';
import { RelativeTime } from '../components/time.tsx';
import { useForm } from '../components/use-form.ts';
import { useRefresh } from '../components/use-refresh.ts';
import { getOrganizationApi } from '../organization/organization.ts';
import { OneTimeValueDialog } from './one-time-value-dialog.tsx';
import { invitationsQuery } from './queries.ts';
import { parseRole, roleDescriptions, roleOptions } from './role-options.ts';

const origin = location.origin;
const invitee = ({ email }: Invitation) => email ?? 'Anyone with the link';

/** Invitations that are not accepted yet. */
export function Invitations({ organization }: { readonly organization: string }) {
  const [open, setOpen] = useState<'create' | Invitation | null>(null);
  const api = getOrganizationApi(organization);
  const query = invitationsQuery(organization);
  const invitations = useQuery(query);
  const refresh = useRefresh(query.queryKey);
  const close = () => setOpen(null);
  return (
    <>
      <Section
        title="Open invitations"
        lead="A link works once and for 7 days."
        actions={
          <Button onClick={() => setOpen('create')}>
            <Plus aria-hidden="true" className="size-4" />
            Invite
          </Button>
        }
      >
        <QueryBoundary query={invitations}>
          {(data) => (
            <RowList
              label="Open invitations"
              items={data.invitations}
              empty={
                <EmptyState icon={MailPlus} title="No open invitations">
                  Invite people with a link. They join with their account, or create one.
                </EmptyState>
              }
            >
              {(invitation) => (
                <Row
                  key={invitation.id}
                  title={
                    <>
                      {invitee(invitation)} <Badge>{invitation.role}</Badge>
                    </>
                  }
                  facts={[
                    <>
                      Created <RelativeTime at={invitation.createdAt} />
                    </>,
                    <>
                      Expires <RelativeTime at={invitation.expiresAt} />
                    </>,
                  ]}
                  actions={
                    <Button
                      variant="danger"
                      size="small"
                      onClick={() => setOpen(invitation)}
                      aria-label={`Revoke the invitation of ${invitee(invitation)}`}
                    >
                      Revoke
                    </Button>
                  }
                />
              )}
            </RowList>
          )}
        </QueryBoundary>
      </Section>
      {open === 'create' && <InviteDialog organization={organization} onCreated={refresh} onClose={close} />}
      {open !== null && open !== 'create' && (
        <ConfirmDialog
          title="Revoke the invitation?"
          lead={`The link for ${invitee(open)} stops working. You can create another one.`}
          action="Revoke invitation"
          command={formatCurlCommand('revokeInvitation', { origin, organization, params: { invitationId: open.id } })}
          run={() => api.revokeInvitation({ params: { invitationId: open.id } })}
          onDone={() => refresh('The invitation is revoked.')}
          onClose={close}
        />
      )}
    </>
  );
}

type InviteDialogProps = {
  readonly organization: string;
  readonly onCreated: () => Promise<void>;
  readonly onClose: () => void;
};

function InviteDialog({ organization, onCreated, onClose }: InviteDialogProps) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('member');
  const [link, setLink] = useState<string | null>(null);
  const body = { role, email: email.trim() === '' ? null : email.trim() };
  const form = useForm(
    () => getOrganizationApi(organization).createInvitation({ body }),
    async ({ url }) => {
      setLink(url);
      await onCreated();
    },
  );
  if (link !== null) {
    return (
      <OneTimeValueDialog
        title="Send this link"
        lead={`${body.email ?? 'The first person who opens it'} joins as ${role}. The service sends no mail: use a channel that only this person can read. The link is not shown again.`}
        value={link}
        name="link"
        onClose={onClose}
      />
    );
  }
  return (
    <DialogForm
      title="Invite a person"
      form={form}
      submit="Create link"
      sending="Creating…"
      command={botcliCommands.inviteMember(organization, body.email, role)}
      onClose={onClose}
    >
      <TextField
        label="E-mail (optional)"
        name="email"
        hint="With an address, only an account with that address can use the link."
        type="email"
        placeholder="ada@example.com"
        value={email}
        onValue={setEmail}
        autoComplete="off"
      />
      <SelectField
        label="Role"
        name="role"
        hint={roleDescriptions[role]}
        options={roleOptions}
        value={role}
        onValue={(value) => setRole(parseRole(value))}
      />
    </DialogForm>
  );
}
