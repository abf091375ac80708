import { type AgentDetails, type DeployedAgent, defaultConversationLevel } from '@bothost/contract';
import { useState } from 'react';
import { formatCurlCommand } from '../commands/shell-command.ts';
import { FormSection } from '../components/form-section.tsx';
import { useForm } from '../components/use-form.ts';
import { useRefresh } from '../components/use-refresh.ts';
import { getOrganizationApi, useMembership } from '../organization/organization.ts';
import { createAgentsQueryKey } from './queries.ts';
import { pickChangedSettings, SettingFields, type SettingValues } from './setting-fields.tsx';

const savedMessages: Readonly<Record<DeployedAgent['change'], string>> = {
  scaling: 'The scaling is changed.',
  conversation: 'The conversation level is changed. It holds for new sessions.',
  deployment: 'A deployment with the new settings has started.',
  none: 'Nothing changed.',
};

/**
 * A form for the scaling, the profile and other settings of an agent. Any change except to the scaling or the conversation level
 * creates a new deployment.
 */
export function AgentSettings({ agent }: { readonly agent: AgentDetails }) {
  const { name: organization } = useMembership();
  const current: SettingValues = {
    minAgents: String(agent.autoScaling.minReplicas),
    maxAgents: String(agent.autoScaling.maxReplicas),
    agentProfile: agent.agentProfile,
    maxSessionDuration: String(agent.maxSessionDuration),
    secretSet: agent.deployment.manifest.spec.envFromSecretNames[0] ?? '',
    conversationLevel: agent.conversation?.level ?? defaultConversationLevel,
  };
  const [values, setValues] = useState(current);
  const refresh = useRefresh(createAgentsQueryKey(organization));
  const params = { agentName: agent.name };
  const body = pickChangedSettings(current, values);
  const form = useForm(
    () => getOrganizationApi(organization).updateAgent({ params, body }),
    ({ change }) => refresh(savedMessages[change]),
  );
  return (
    <FormSection
      title="Settings"
      lead="A change of the scaling or of the conversations applies at once. Other changes create a deployment of the same code."
      help="conversations#levels"
      form={form}
      submit="Save"
      isChanged={Object.keys(body).length > 0}
      command={formatCurlCommand('updateAgent', { origin: location.origin, organization, params, body })}
    >
      <SettingFields
        values={values}
        onValues={setValues}
        region={agent.region}
        maximumLevel={agent.conversation?.maximumLevel}
        redact={agent.conversation?.redact}
      />
    </FormSection>
  );
}
