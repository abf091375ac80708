import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { SettingFields, type SettingValues } from '../agents/setting-fields.tsx';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { identifierInput, TextField } from '../components/text-field.tsx';
import { useMembership } from '../organization/organization.ts';
import { organizationPropertiesQuery } from '../organization/queries.ts';
import { findAgentNameProblem } from './deploy-settings.ts';

type NameAndSettingsProps = {
  readonly name: string;
  readonly onName: (name: string) => void;
  readonly values: SettingValues;
  readonly onValues: (values: SettingValues) => void;
  /** Whether an agent with this name already exists. If so, the deploy does not change its settings. */
  readonly exists: boolean;
};

/** Shows the fields for the name and the settings of an agent whose project has no deploy file. */
export function NameAndSettings({ name, onName, values, onValues, exists }: NameAndSettingsProps) {
  const { name: organization } = useMembership();
  const properties = useQuery(organizationPropertiesQuery(organization));
  return (
    <div className="flex max-w-md flex-col gap-4 px-5 py-5 sm:px-6">
      <TextField
        label="Name of the agent"
        hint="To keep the settings with the project, write them to its deploy.toml."
        problem={findAgentNameProblem(name)}
        name="serviceName"
        value={name}
        onValue={onName}
        required
        {...identifierInput}
      />
      {exists ? (
        <p className="text-quiet text-sm">
          The agent exists and keeps its settings. Change them on{' '}
          <Link
            to="/orgs/$organization/agents/$agent"
            params={{ organization, agent: name }}
            className="text-accent underline underline-offset-4"
          >
            its page
          </Link>
          .
        </p>
      ) : (
        <QueryBoundary query={properties}>
          {(data) => <SettingFields values={values} onValues={onValues} region={data.properties.defaultRegion} />}
        </QueryBoundary>
      )}
    </div>
  );
}
