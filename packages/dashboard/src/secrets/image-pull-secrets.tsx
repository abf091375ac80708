import { getStatusLabel, imagePullSecretCheckResultLabels, type SecretSetListItem } from '@bothost/contract';
import { useMutation } from '@tanstack/react-query';
import { Container, Plus } from 'lucide-react';
import { useState } from 'react';
import { describeError } from '../api.ts';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { Alert } from '../components/alert.tsx';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { Row, RowList } from '../components/row-list.tsx';
import { Section } from '../components/section.tsx';
import { RelativeTime } from '../components/time.tsx';
import { canCallOperation, getOrganizationApi, useMembership } from '../organization/organization.ts';
import { DeleteSetDialog } from './delete-set-dialog.tsx';
import { ImagePullSecretDialog } from './image-pull-secret-dialog.tsx';
import { useRefreshSecrets } from './queries.ts';
import { SecretSetReadinessBadge } from './readiness-badge.tsx';

const tones = { verified: 'good', rejected: 'danger', unreachable: 'neutral', skipped: 'neutral' } as const;

type OpenDialog =
  | { readonly action: 'create' }
  | { readonly action: 'replace' | 'delete'; readonly secret: SecretSetListItem };

/** Lists the image pull secrets, which a person can create, replace, verify and delete here. */
export function ImagePullSecrets({ sets }: { readonly sets: readonly SecretSetListItem[] }) {
  const membership = useMembership();
  const { name: organization } = membership;
  const [open, setOpen] = useState<OpenDialog | null>(null);
  const refresh = useRefreshSecrets(organization);
  const verify = useMutation({
    mutationFn: (setName: string) => getOrganizationApi(organization).verifyImagePullSecret({ params: { setName } }),
    onSuccess: ({ name, verification }) =>
      refresh(`${name}: ${getStatusLabel(imagePullSecretCheckResultLabels, verification.result)}.`),
    onError: () => refresh(),
  });
  const close = () => setOpen(null);
  const mayWrite = canCallOperation(membership, 'putSecrets');
  const create = mayWrite && (
    <Button variant="outline" onClick={() => setOpen({ action: 'create' })}>
      <Plus aria-hidden="true" className="size-4" />
      Create pull secret
    </Button>
  );
  return (
    <Section
      title="Image pull secrets"
      lead="Credentials for registries with private images."
      help="secrets#image-pull-secrets"
      actions={sets.length > 0 && create}
    >
      {verify.error !== null && (
        <div className="px-5 pt-4 sm:px-6">
          <Alert>{describeError(verify.error)}</Alert>
        </div>
      )}
      <RowList
        label="Image pull secrets"
        items={sets}
        empty={
          <EmptyState icon={Container} title="No image pull secrets">
            Regions that run bots as images use them. This service can check whether a registry accepts them.
            {create}
          </EmptyState>
        }
      >
        {(secret) => (
          <Row
            key={secret.name}
            title={
              <>
                {secret.name}
                <SecretSetReadinessBadge status={secret.status} isDamaged={secret.damaged ?? false} />
                {secret.verification !== null && (
                  <Badge tone={tones[secret.verification.result]}>
                    {getStatusLabel(imagePullSecretCheckResultLabels, secret.verification.result)}
                  </Badge>
                )}
              </>
            }
            facts={pullSecretFacts(secret)}
            actions={
              mayWrite && (
                <div className="flex flex-wrap gap-2">
                  <Button
                    variant="outline"
                    size="small"
                    onClick={() => verify.mutate(secret.name)}
                    disabled={verify.isPending}
                    aria-label={`Verify ${secret.name}`}
                  >
                    {verify.isPending && verify.variables === secret.name ? 'Verifying…' : 'Verify'}
                  </Button>
                  <Button
                    variant="outline"
                    size="small"
                    onClick={() => setOpen({ action: 'replace', secret })}
                    aria-label={`Replace ${secret.name}`}
                  >
                    Replace
                  </Button>
                  <Button
                    variant="danger"
                    size="small"
                    onClick={() => setOpen({ action: 'delete', secret })}
                    aria-label={`Delete ${secret.name}`}
                  >
                    Delete
                  </Button>
                </div>
              )
            }
          />
        )}
      </RowList>
      {sets[0] !== undefined && mayWrite && (
        <EquivalentShellCommand command={botcliCommands.verifyImagePullSecret(organization, sets[0].name)} />
      )}
      {open?.action === 'create' && <ImagePullSecretDialog replaced={null} onClose={close} />}
      {open?.action === 'replace' && <ImagePullSecretDialog replaced={open.secret} onClose={close} />}
      {open?.action === 'delete' && <DeleteSetDialog set={open.secret} agents={[]} onClose={close} />}
    </Section>
  );
}

function pullSecretFacts({ host, region, updatedAt, expiresAt, verification, errorMessage }: SecretSetListItem) {
  return [
    host,
    region,
    <>
      Updated <RelativeTime at={updatedAt} />
    </>,
    ...(expiresAt === null
      ? []
      : [
          <>
            Expires <RelativeTime at={expiresAt} />
          </>,
        ]),
    ...(verification === null ? [] : [verification.message]),
    ...(errorMessage === undefined ? [] : [errorMessage]),
  ];
}
