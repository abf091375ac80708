import { type DeployFile, instanceCountLimits } from '@bothost/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Alert } from '../components/alert.tsx';
import { FactList } from '../components/fact-list.tsx';
import { formatDuration } from '../components/format.ts';
import { useMembership } from '../organization/organization.ts';
import { organizationPropertiesQuery } from '../organization/queries.ts';
import { useSecretSetNames } from '../secrets/queries.ts';

type DeployFileSummaryProps = {
  readonly file: DeployFile;
  /** The region of the existing agent. Undefined if the agent does not exist yet. */
  readonly region: string | undefined;
};

/** Shows the settings in a deploy file, and a warning if the file names a secret set that does not exist. */
export function DeployFileSummary({ file, region }: DeployFileSummaryProps) {
  const { name: organization } = useMembership();
  const properties = useQuery(organizationPropertiesQuery(organization));
  const target = region ?? file.region ?? properties.data?.properties.defaultRegion;
  const names = useSecretSetNames(organization, target);
  const { secret_set: secretSet, scaling } = file;
  const isMissing =
    secretSet !== undefined &&
    target !== undefined &&
    names !== undefined &&
    !names.some((name) => name.toLowerCase() === secretSet.toLowerCase());
  return (
    <>
      {isMissing && (
        <div className="px-5 pt-5 sm:px-6">
          <Alert>
            The secret set {secretSet} does not exist in the region {target}. Create it first on the page{' '}
            <Link to="/orgs/$organization/secrets" params={{ organization }} className="underline">
              Secrets
            </Link>
            .
          </Alert>
        </div>
      )}
      <FactList
        facts={[
          ['Region', target ?? '…'],
          ['Profile', file.agent_profile],
          ['Instances', `${scaling.min_agents ?? instanceCountLimits.defaultMinimum} to ${scaling.max_agents}`],
          ['Maximum session duration', formatDuration(file.max_session_duration * 1_000)],
          ['Secret set', secretSet ?? 'None'],
          ['WebSocket clients', file.websocket_auth === 'none' ? 'Need no token' : 'Need a token'],
        ]}
      />
    </>
  );
}
