import { fetchAgentDetails, parseImageReference, submitDeployment, withRetries } from '@bothost/contract';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { agentListQuery } from '../agents/queries.ts';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { Form } from '../components/form.tsx';
import { FormFooter } from '../components/form-section.tsx';
import { Section } from '../components/section.tsx';
import { SelectField } from '../components/select-field.tsx';
import { identifierInput, TextField } from '../components/text-field.tsx';
import { getOrganizationApi } from '../organization/organization.ts';
import { secretListQuery } from '../secrets/queries.ts';
import { findAgentNameProblem } from './deploy-settings.ts';
import { Rollout } from './rollout.tsx';

type DeployImageProps = {
  readonly organization: string;
  /** The region of a new agent. An existing agent stays in its region. */
  readonly region: string;
};

/** Deploys a container image to a new or an existing agent, in a region that runs images. */
export function DeployImage({ organization, region: newRegion }: DeployImageProps) {
  const [name, setName] = useState('');
  const [image, setImage] = useState('');
  const [pullSecret, setPullSecret] = useState('');
  const agents = useQuery(agentListQuery(organization));
  const secrets = useQuery(secretListQuery(organization));
  const agent = agents.data?.agents.find((one) => one.name === name);
  const region = agent?.region ?? newRegion;
  const pullSecrets = (secrets.data?.sets ?? []).filter(
    (set) => set.type === 'imagePullSecret' && set.region === region,
  );
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const deploy = useMutation({
    mutationFn: async () => {
      running.current = new AbortController();
      const { signal } = running.current;
      const api = getOrganizationApi(organization);
      const retry = <T,>(request: () => Promise<T>) => withRetries(request, signal);
      const before = await retry(() => fetchAgentDetails(api, name, signal));
      const target = { agentName: name, region, latestDeploymentId: before?.desiredDeploymentId ?? null };
      const settings = { image, imagePullSecretSet: pullSecret === '' ? null : pullSecret };
      return submitDeployment(api, target, settings, { signal, retry });
    },
  });
  const imageProblem = findImageProblem(image);
  return (
    <>
      {deploy.data !== undefined && (
        <Section title={`Deploying ${deploy.data.agentName}`}>
          <ol className="divide-y divide-line">
            <Rollout organization={organization} accepted={deploy.data} />
          </ol>
        </Section>
      )}
      <Section
        title="Deploy an image"
        lead={`Region ${region} runs container images. The service pulls the image, and all instances run the digest that was pulled.`}
        help="images#what-is-deployed"
      >
        <Form
          form={{
            onSubmit: (event) => {
              event.preventDefault();
              deploy.mutate();
            },
            isSending: deploy.isPending,
            error: deploy.error,
          }}
        >
          <div className="flex max-w-md flex-col gap-4 px-5 py-5 sm:px-6">
            <TextField
              label="Name of the agent"
              hint={agent === undefined ? 'A new agent.' : 'This agent exists, and keeps its other settings.'}
              problem={name === '' ? undefined : findAgentNameProblem(name)}
              name="serviceName"
              value={name}
              onValue={setName}
              required
              {...identifierInput}
            />
            <TextField
              label="Image"
              hint="Such as ghcr.io/team/my-bot:1.4. A tag is looked up again with each deploy."
              problem={image === '' ? undefined : imageProblem}
              name="image"
              value={image}
              onValue={setImage}
              required
              {...identifierInput}
            />
            <SelectField
              label="Image pull secret"
              hint="For a private image. Create one under Secrets."
              name="imagePullSecretSet"
              options={[
                ['', 'None: the image is public'],
                ...pullSecrets.map((set) => [set.name, `${set.name} (${set.host ?? 'unknown registry'})`] as const),
              ]}
              value={pullSecret}
              onValue={setPullSecret}
            />
          </div>
          <FormFooter
            submit="Deploy"
            isDisabled={findAgentNameProblem(name) !== undefined || imageProblem !== undefined}
            command={botcliCommands.deployImage(organization, name || 'AGENT', image || 'IMAGE', pullSecret)}
          />
        </Form>
      </Section>
    </>
  );
}

function findImageProblem(text: string): string | undefined {
  const image = parseImageReference(text);
  return 'problem' in image ? `This is not an image: ${image.problem}.` : undefined;
}
