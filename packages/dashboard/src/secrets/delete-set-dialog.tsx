import { botcliCommands } from '../commands/botcli-commands.ts';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { getOrganizationApi, useMembership } from '../organization/organization.ts';
import { useRefreshSecrets } from './queries.ts';

type DeleteSetDialogProps = {
  readonly set: { readonly name: string; readonly revision: number };
  /** Names of the agents that use the set. The dialog lists them. */
  readonly agents: readonly string[];
  readonly onDone?: () => void | Promise<void>;
  readonly onClose: () => void;
};

/** Deletes a secret set or an image pull secret. */
export function DeleteSetDialog({ set: { name, revision }, agents, onDone, onClose }: DeleteSetDialogProps) {
  const { name: organization } = useMembership();
  const refresh = useRefreshSecrets(organization);
  const isUsed = agents.length > 0;
  return (
    <ConfirmDialog
      title={`Delete ${name}?`}
      lead={`Deletes it with all its revisions, which cannot be undone.${
        isUsed
          ? ` ${agents.join(', ')} ${agents.length === 1 ? 'uses' : 'use'} it, and cannot be deployed without it.`
          : ''
      }`}
      action="Delete"
      phrase={name}
      command={botcliCommands.deleteSecretSet(organization, name, isUsed)}
      run={() =>
        getOrganizationApi(organization).deleteSecretSet({
          params: { setName: name },
          query: { force: isUsed ? 'true' : 'false', expectedRevision: revision },
        })
      }
      onDone={async () => {
        await onDone?.();
        await refresh(`${name} is deleted.`);
      }}
      onClose={onClose}
    />
  );
}
