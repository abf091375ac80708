import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { setUser, signOutEverywhere, useUser } from '../accounts/session.ts';
import { apiClient } from '../api.ts';
import { formatCurlCommand } from '../commands/shell-command.ts';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { FormSection } from '../components/form-section.tsx';
import { NewPasswordField } from '../components/new-password-field.tsx';
import { useNotice } from '../components/notice.tsx';
import { PageHeader, Section } from '../components/section.tsx';
import { TextField } from '../components/text-field.tsx';
import { useForm } from '../components/use-form.ts';

/** The page at `/settings/account`: the person's name, e-mail address, password and sessions. */
export function AccountPage() {
  const { hasPassword, email } = useUser();
  return (
    <>
      <PageHeader title="Account" lead={`You are signed in as ${email}.`} />
      <NameForm />
      {hasPassword ? (
        <>
          <EmailForm key={email} />
          <PasswordForm />
        </>
      ) : (
        <Section
          title="E-mail and password"
          lead="You sign in with an OpenID Connect provider. Change your e-mail address and password there."
        />
      )}
      <Sessions />
    </>
  );
}

function NameForm() {
  const user = useUser();
  const [name, setName] = useState(user.name);
  const queries = useQueryClient();
  const notify = useNotice();
  const form = useForm(
    () => apiClient.updateUser({ body: { name } }),
    (changed) => {
      setUser(queries, changed);
      setName(changed.name);
      notify('Your name is changed.');
    },
  );
  return (
    <FormSection
      title="Name"
      lead="Other members of your organizations see it."
      form={form}
      submit="Save"
      isChanged={name !== user.name}
      command={formatCurlCommand('updateUser', { origin: location.origin, body: { name } })}
    >
      <TextField label="Name" name="name" autoComplete="name" value={name} onValue={setName} maxLength={100} required />
    </FormSection>
  );
}

function EmailForm() {
  const user = useUser();
  const [email, setEmail] = useState(user.email);
  const [password, setPassword] = useState('');
  const queries = useQueryClient();
  const notify = useNotice();
  const form = useForm(
    () => apiClient.changeEmail({ body: { email, password } }),
    (changed) => {
      setUser(queries, changed);
      notify(`Your e-mail address is ${changed.email}.`);
    },
  );
  return (
    <FormSection
      title="E-mail"
      lead="You sign in with this address."
      form={form}
      submit="Change e-mail"
      isChanged={email !== user.email && password !== ''}
    >
      <TextField
        label="E-mail"
        name="email"
        type="email"
        autoComplete="email"
        value={email}
        onValue={setEmail}
        required
      />
      {email !== user.email && (
        <TextField
          label="Current password, to confirm"
          name="password"
          type="password"
          autoComplete="current-password"
          value={password}
          onValue={setPassword}
          required
        />
      )}
    </FormSection>
  );
}

function PasswordForm() {
  const [currentPassword, setCurrentPassword] = useState('');
  const [newPassword, setNewPassword] = useState('');
  const queries = useQueryClient();
  const notify = useNotice();
  const form = useForm(
    () => apiClient.changePassword({ body: { currentPassword, newPassword } }),
    (changed) => {
      setUser(queries, changed);
      setCurrentPassword('');
      setNewPassword('');
      notify('Your password is changed.');
    },
  );
  return (
    <FormSection
      title="Password"
      lead="A new password ends your other sessions."
      form={form}
      submit="Change password"
      isChanged={currentPassword !== '' && newPassword !== ''}
    >
      <TextField
        label="Current password"
        name="currentPassword"
        type="password"
        autoComplete="current-password"
        value={currentPassword}
        onValue={setCurrentPassword}
        required
      />
      <NewPasswordField label="New password" name="newPassword" value={newPassword} onValue={setNewPassword} />
    </FormSection>
  );
}

function Sessions() {
  const [isOpen, setOpen] = useState(false);
  const queries = useQueryClient();
  return (
    <Section
      title="Sessions"
      lead="If you lost a device or suspect that somebody else is signed in as you, end all sessions. This includes logins of the command line, but not tokens that you created."
    >
      <div className="flex flex-col items-start gap-3 px-5 py-4 sm:px-6">
        <Button variant="danger" onClick={() => setOpen(true)}>
          Sign out everywhere
        </Button>
      </div>
      {isOpen && (
        <ConfirmDialog
          title="Sign out everywhere?"
          lead="All your browsers and command lines are signed out, this one included."
          action="Sign out everywhere"
          run={() => signOutEverywhere(queries)}
          onDone={() => {}}
          onClose={() => setOpen(false)}
        />
      )}
    </Section>
  );
}
