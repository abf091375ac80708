import { useState } from 'react';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { DialogForm } from '../components/dialog-form.tsx';
import { identifierInput, TextField } from '../components/text-field.tsx';
import { useForm } from '../components/use-form.ts';
import { getOrganizationApi, useMembership } from '../organization/organization.ts';
import { useRefreshSecrets } from './queries.ts';

type PullSecretDialogProps = {
  /** The image pull secret whose credentials are replaced, or null for a new one. */
  readonly replaced: { readonly name: string; readonly host: string | null } | null;
  readonly onClose: () => void;
};

/** Stores the credentials for a private image registry. */
export function ImagePullSecretDialog({ replaced, onClose }: PullSecretDialogProps) {
  const { name: organization } = useMembership();
  const [name, setName] = useState(replaced?.name ?? '');
  const [host, setHost] = useState(replaced?.host ?? '');
  const [username, setUsername] = useState('');
  const [password, setPassword] = useState('');
  const refresh = useRefreshSecrets(organization);
  const userProblem = username.includes(':') ? 'A user name cannot contain a colon.' : undefined;
  const form = useForm(
    () =>
      getOrganizationApi(organization).putSecrets({
        params: { setName: name },
        body: {
          isImagePullSecret: true,
          host,
          secretValue: encodeCredentials(username, password),
          // Revision 0 means that the set must not exist yet, so an existing set is not overwritten.
          ...(replaced === null ? { expectedRevision: 0 } : {}),
        },
      }),
    async () => {
      await refresh(`The credentials ${name} are stored.`);
      onClose();
    },
  );
  const text = { ...identifierInput, required: true };
  return (
    <DialogForm
      title={replaced === null ? 'Create an image pull secret' : `Replace the credentials of ${replaced.name}`}
      lead="A user name and password of a registry with private images. They are stored encrypted and not shown again."
      form={form}
      submit="Store"
      sending="Storing…"
      isValid={userProblem === undefined}
      command={botcliCommands.setImagePullSecret(organization, name || 'NAME', host || 'REGISTRY', username || 'USER')}
      onClose={onClose}
    >
      {replaced === null && (
        <TextField
          label="Name"
          name="setName"
          hint="Letters, digits and hyphens."
          placeholder="ghcr"
          value={name}
          onValue={setName}
          {...text}
        />
      )}
      <TextField label="Registry" name="host" placeholder="ghcr.io" value={host} onValue={setHost} {...text} />
      <TextField label="User name" value={username} onValue={setUsername} problem={userProblem} {...text} />
      <TextField
        label="Password or token"
        name="secretValue"
        value={password}
        onValue={setPassword}
        {...text}
        type="password"
        autoComplete="new-password"
      />
    </DialogForm>
  );
}

/** Encodes `username:password` in Base64, the format in which Docker stores credentials. */
function encodeCredentials(username: string, password: string): string {
  const bytes = new TextEncoder().encode(`${username}:${password}`);
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}
