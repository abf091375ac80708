import { useQuery } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { agentListQuery } from '../agents/queries.ts';
import { pickChangedSettings } from '../agents/setting-fields.tsx';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { Form } from '../components/form.tsx';
import { FormFooter } from '../components/form-section.tsx';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { Section } from '../components/section.tsx';
import { DeployFileSummary } from './deploy-file-summary.tsx';
import {
  convertDeployFileToSettings,
  createDeployOptions,
  defaultSettings,
  findAgentNameProblem,
  suggestAgentName,
} from './deploy-settings.ts';
import { DeploySteps } from './deploy-steps.tsx';
import { NameAndSettings } from './name-and-settings.tsx';
import type { ChosenProject } from './pack-project.ts';
import { ProjectContents } from './project-contents.tsx';
import { useDeploy } from './use-deploy.ts';

type DeployProjectProps = {
  readonly organization: string;
  readonly project: ChosenProject;
  readonly onChooseAgain: () => void;
};

/** Shows a project and its settings, and then deploys it. */
export function DeployProject({ organization, project, onChooseAgain }: DeployProjectProps) {
  const { deployFile } = project;
  const [name, setName] = useState(deployFile?.content.agent_name ?? suggestAgentName(project.name));
  const [values, setValues] = useState(defaultSettings);
  const { progress, deploy } = useDeploy(organization);
  const agents = useQuery(agentListQuery(organization));
  const agent = agents.data?.agents.find((one) => one.name === name);
  useBlocker({
    shouldBlockFn: () => !window.confirm('The deploy stops if you leave this page. Leave it?'),
    enableBeforeUnload: true,
    disabled: !deploy.isPending,
  });
  const settings =
    deployFile !== null
      ? convertDeployFileToSettings(deployFile.content)
      : agent === undefined
        ? pickChangedSettings(null, values)
        : // Without a deploy file, an existing agent keeps its settings.
          {};
  const command =
    deployFile === null
      ? botcliCommands.deployFolder(organization, name, project.name, createDeployOptions(settings))
      : botcliCommands.deployWithFile(organization, `${project.name}/${deployFile.path}`);
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    deploy.mutate({
      project,
      agentName: name,
      region: deployFile?.content.region,
      settings,
      dockerfile: deployFile?.content.build.dockerfile,
    });
  };
  // The settings can be edited before the deploy starts and after it has failed.
  const isEditable = deploy.isIdle || deploy.isError;
  return (
    <>
      <ProjectContents project={project} onChooseAgain={deploy.isPending ? undefined : onChooseAgain} />
      {!deploy.isIdle && (
        <DeploySteps organization={organization} agentName={name} progress={progress} error={deploy.error} />
      )}
      {isEditable && (
        <Section
          title={agent === undefined ? `Create the agent ${name}` : `Update the agent ${name}`}
          lead={
            agent === undefined
              ? 'The project is uploaded and built, and a first instance is started.'
              : 'The version that serves now keeps serving until the first instance of the new one is ready.'
          }
        >
          <QueryBoundary query={agents}>
            {() => (
              <Form form={{ onSubmit, isSending: deploy.isPending, error: deploy.error }}>
                {deployFile === null ? (
                  <NameAndSettings
                    name={name}
                    onName={setName}
                    values={values}
                    onValues={setValues}
                    exists={agent !== undefined}
                  />
                ) : (
                  <DeployFileSummary file={deployFile.content} region={agent?.region} />
                )}
                <FormFooter
                  submit={deploy.isError ? 'Deploy again' : 'Deploy'}
                  isDisabled={findAgentNameProblem(name) !== undefined}
                  command={command}
                />
              </Form>
            )}
          </QueryBoundary>
        </Section>
      )}
    </>
  );
}
