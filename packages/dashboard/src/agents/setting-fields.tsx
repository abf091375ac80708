import {
  type AgentProfileName,
  type AgentSettings,
  agentProfileResources,
  instanceCountLimits,
  sessionDurationLimitsSeconds,
} from '@bothost/contract';
import { SelectField } from '../components/select-field.tsx';
import { TextField } from '../components/text-field.tsx';
import { useMembership } from '../organization/organization.ts';
import { useSecretSetNames } from '../secrets/queries.ts';

/** The settings of an agent as entered in a form. An empty `secretSet` means that the agent uses no secret set. */
export type SettingValues = {
  readonly minAgents: string;
  readonly maxAgents: string;
  readonly agentProfile: string;
  readonly maxSessionDuration: string;
  readonly secretSet: string;
};

type SettingFieldsProps = {
  readonly values: SettingValues;
  readonly onValues: (values: SettingValues) => void;
  /** The agent's region. The fields offer only secret sets of this region. */
  readonly region: string;
};

export function SettingFields({ values, onValues, region }: SettingFieldsProps) {
  const { name: organization } = useMembership();
  const names = useSecretSetNames(organization, region) ?? [];
  const sets = new Set([...names, values.secretSet].filter((name) => name !== ''));
  const profileNames = new Set([...Object.keys(agentProfileResources), values.agentProfile]);
  const onValue = (name: keyof SettingValues) => (value: string) => onValues({ ...values, [name]: value });
  const numberField = (name: 'minAgents' | 'maxAgents' | 'maxSessionDuration', minimum: number, maximum: number) => ({
    name: name === 'maxSessionDuration' ? name : `autoScaling.${name}`,
    type: 'number',
    required: true,
    min: minimum,
    max: maximum,
    value: values[name],
    onValue: onValue(name),
  });
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Minimum of instances"
          hint="Kept warm, so that sessions start at once."
          {...numberField('minAgents', instanceCountLimits.minimum, instanceCountLimits.maximum)}
        />
        <TextField
          label="Maximum of instances"
          hint="Sessions beyond it are refused."
          {...numberField('maxAgents', 1, instanceCountLimits.maximum)}
        />
      </div>
      <SelectField
        label="Profile"
        name="agentProfile"
        hint="CPU and memory of an instance."
        options={[...profileNames].map((name) => [name, describeProfile(name)] as const)}
        value={values.agentProfile}
        onValue={onValue('agentProfile')}
      />
      <TextField
        label="Maximum session duration, in seconds"
        {...numberField(
          'maxSessionDuration',
          sessionDurationLimitsSeconds.minimum,
          sessionDurationLimitsSeconds.maximum,
        )}
      />
      <SelectField
        label="Secret set"
        name="secretSet"
        hint="The bot gets its keys as environment variables."
        options={[['', 'None'], ...[...sets].map((name) => [name, name] as const)]}
        value={values.secretSet}
        onValue={onValue('secretSet')}
      />
    </>
  );
}

/** Describes a profile, such as `agent-1x: 0.5 CPU, 1 GiB`. */
export function describeProfile(name: string): string {
  if (!Object.hasOwn(agentProfileResources, name)) return name;
  const { cpuMillicores, memoryBytes } = agentProfileResources[name as AgentProfileName];
  return `${name}: ${cpuMillicores / 1_000} CPU, ${memoryBytes / 1_073_741_824} GiB`;
}

/**
 * Returns a request body with all settings if `current` is null, otherwise with the settings whose values differ from
 * `current`.
 */
export function pickChangedSettings(current: SettingValues | null, values: SettingValues): AgentSettings {
  const isChanged = (name: keyof SettingValues) => current?.[name] !== values[name];
  const { agentProfile, secretSet } = values;
  const autoScaling = {
    ...(isChanged('minAgents') ? { minAgents: Number(values.minAgents) } : {}),
    ...(isChanged('maxAgents') ? { maxAgents: Number(values.maxAgents) } : {}),
  };
  return {
    ...(Object.keys(autoScaling).length === 0 ? {} : { autoScaling }),
    ...(isChanged('agentProfile') ? { agentProfile: agentProfile as AgentProfileName } : {}),
    ...(isChanged('maxSessionDuration') ? { maxSessionDuration: Number(values.maxSessionDuration) } : {}),
    ...(isChanged('secretSet') ? { secretSet: secretSet === '' ? null : secretSet } : {}),
  };
}
