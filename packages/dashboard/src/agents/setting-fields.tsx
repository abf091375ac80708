import {
  type AgentProfileName,
  type AgentSettings,
  agentProfileResources,
  type ConversationLevel,
  conversationLevels,
  defaultConversationLevel,
  getLowerConversationLevel,
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
  readonly conversationLevel: string;
};

type SettingFieldsProps = {
  readonly values: SettingValues;
  readonly onValues: (values: SettingValues) => void;
  /** The agent's region. The fields offer only secret sets of this region. */
  readonly region: string;
  /** What bots remove from texts, which only `deploy.toml` and the API change. */
  readonly redact?: readonly string[] | undefined;
  /** The highest conversation level that the operator allows. Undefined if it is not known. */
  readonly maximumLevel?: ConversationLevel | undefined;
};

export function SettingFields({ values, onValues, region, maximumLevel, redact }: SettingFieldsProps) {
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
      <SelectField
        label="Conversations"
        name="conversation.level"
        hint={describeLevelEffect(values.conversationLevel, maximumLevel, redact)}
        options={conversationLevels
          .filter((level) => level === values.conversationLevel || isAllowed(level, maximumLevel))
          .map((level) => [level, levelLabels[level]] as const)}
        value={values.conversationLevel}
        onValue={onValue('conversationLevel')}
      />
    </>
  );
}

const levelLabels: Readonly<Record<ConversationLevel, string>> = {
  off: 'Off: keep nothing',
  timings: 'Timings: times and numbers, no text',
  transcript: 'Transcript: also what was said',
  recording: 'Recording: also the audio of both sides',
};

function isAllowed(level: ConversationLevel, maximum: ConversationLevel | undefined): boolean {
  return maximum === undefined || getLowerConversationLevel(level, maximum) === level;
}

/** Says what a conversation level means for new sessions and their logs. */
function describeLevelEffect(
  name: string,
  maximum: ConversationLevel | undefined,
  redact: readonly string[] = [],
): string {
  const level = conversationLevels.find((known) => known === name);
  if (level !== undefined && maximum !== undefined && !isAllowed(level, maximum))
    return `The operator allows at most "${maximum}", so new sessions have that level.`;
  const log =
    redact.length === 0
      ? 'The log has DEBUG lines.'
      : `Bots remove from the text: ${redact.join(', ')}. The log begins at INFO, because it is not redacted.`;
  if (level === 'recording')
    return `Holds for new sessions. Owners, members and private keys can read the text and play the audio. Callers may have to agree. ${log}`;
  return level === 'transcript'
    ? `Holds for new sessions. Owners, members and private keys can read the text. ${log}`
    : 'Holds for new sessions. Their log begins at INFO, because Pipecat logs what was said at DEBUG. If the secret set has PIPECAT_LOG_LEVEL, that level is used instead, and the log may contain the conversation.';
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
  const level = conversationLevels.find((known) => known === values.conversationLevel);
  // For a new agent, the default is not sent, because the operator may allow less.
  const isLevelChanged = values.conversationLevel !== (current?.conversationLevel ?? defaultConversationLevel);
  const autoScaling = {
    ...(isChanged('minAgents') ? { minAgents: Number(values.minAgents) } : {}),
    ...(isChanged('maxAgents') ? { maxAgents: Number(values.maxAgents) } : {}),
  };
  return {
    ...(Object.keys(autoScaling).length === 0 ? {} : { autoScaling }),
    ...(isChanged('agentProfile') ? { agentProfile: agentProfile as AgentProfileName } : {}),
    ...(isChanged('maxSessionDuration') ? { maxSessionDuration: Number(values.maxSessionDuration) } : {}),
    ...(level !== undefined && isLevelChanged ? { conversation: { level } } : {}),
    ...(isChanged('secretSet') ? { secretSet: secretSet === '' ? null : secretSet } : {}),
  };
}
