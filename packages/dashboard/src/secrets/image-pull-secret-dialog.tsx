import { useState } from 'react';
import { formatCloudCommand } from '../commands/shell-command.ts';
import { Alert } from '../components/alert.tsx';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { useNotice } from '../components/notice.tsx';
import { TextField } from '../components/text-field.tsx';
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
  const notify = useNotice();
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
      notify(`The credentials ${name} are stored.`);
      await refresh();
      onClose();
    },
  );
  const text = { autoComplete: 'off', autoCapitalize: 'none', spellCheck: false, required: true } as const;
  return (
    <Dialog
      title={replaced === null ? 'Create an image pull secret' : `Replace the credentials of ${replaced.name}`}
      lead="A user name and password of a registry with private images. They are stored encrypted and not shown again."
      onClose={onClose}
    >
      <form className="flex flex-col gap-5" onSubmit={form.onSubmit}>
        {form.problem !== null && <Alert>{form.problem}</Alert>}
        {replaced === null && (
          <TextField
            label="Name"
            hint="Letters, digits and hyphens."
            placeholder="ghcr"
            value={name}
            onValue={setName}
            {...text}
          />
        )}
        <TextField label="Registry" placeholder="ghcr.io" value={host} onValue={setHost} {...text} />
        <TextField label="User name" value={username} onValue={setUsername} problem={userProblem} {...text} />
        <TextField
          label="Password or token"
          value={password}
          onValue={setPassword}
          {...text}
          type="password"
          autoComplete="new-password"
        />
        <div className="flex justify-end gap-3">
          <Button variant="outline" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" disabled={form.isSending || userProblem !== undefined}>
            {form.isSending ? 'Storing…' : 'Store'}
          </Button>
        </div>
        <EquivalentShellCommand
          command={formatCloudCommand(
            organization,
            ...['secrets', 'image-pull-secret', name || 'NAME', host || 'REGISTRY', '--username', username || 'USER'],
          )}
        />
      </form>
    </Dialog>
  );
}

/** Encodes `username:password` in Base64, the format in which Docker stores credentials. */
function encodeCredentials(username: string, password: string): string {
  const bytes = new TextEncoder().encode(`${username}:${password}`);
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}
