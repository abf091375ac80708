import { formatBytes } from '@bothost/contract';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { LoaderCircle, Lock } from 'lucide-react';
import { type DragEvent, useEffect, useRef, useState } from 'react';
import { Button } from '../components/button.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { PageHeader, Section } from '../components/section.tsx';
import { FirstDeploySteps } from '../organization/first-deploy-steps.tsx';
import { canCallOperation, useMembership } from '../organization/organization.ts';
import { organizationPropertiesQuery, regionsQuery } from '../organization/queries.ts';
import { DeployImage } from './deploy-image.tsx';
import { DeployProject } from './deploy-project.tsx';
import { DropZone } from './drop-zone.tsx';
import { readChosenProject } from './pack-project.ts';
import { PackingProblem } from './problem.tsx';
import { createSourceFromDrop, type ProjectSource } from './project-source.ts';

/** The page at `/orgs/:organization/deploy`: packs a folder or an archive in the browser and deploys it. */
export function DeployPage() {
  const membership = useMembership();
  return (
    <div className="flex flex-col gap-8">
      <PageHeader
        title="Deploy"
        lead="Deploys a bot. New sessions use the new version as soon as its first instance is ready."
      />
      {canCallOperation(membership, 'createBuild') ? (
        <DeployByRegion organization={membership.name} />
      ) : (
        <Section>
          <EmptyState icon={Lock} title="Only owners and members deploy">
            Your role in this organization is {membership.role}. Ask an owner to change it.
            <Button asChild variant="outline">
              <Link to="/orgs/$organization/agents" params={{ organization: membership.name }}>
                Show all agents
              </Link>
            </Button>
          </EmptyState>
        </Section>
      )}
    </div>
  );
}

/** Shows a form for an image, a drop zone for a project, or both: what the regions of the service deploy. */
function DeployByRegion({ organization }: { readonly organization: string }) {
  const regions = useQuery(regionsQuery(organization));
  const properties = useQuery(organizationPropertiesQuery(organization));
  return (
    <QueryBoundary query={regions}>
      {({ regions: all }) => {
        const imageRegions = all.filter(({ accepts }) => accepts === 'image').map(({ code }) => code);
        const standard = properties.data?.properties.defaultRegion ?? '';
        const region = imageRegions.includes(standard) ? standard : imageRegions[0];
        return (
          <>
            {region !== undefined && <DeployImage organization={organization} region={region} />}
            {imageRegions.length < all.length && <Deploy organization={organization} />}
          </>
        );
      }}
    </QueryBoundary>
  );
}

function Deploy({ organization }: { readonly organization: string }) {
  const [readBytes, setReadBytes] = useState(0);
  const [isDragged, setDragged] = useState(false);
  const reading = useRef<AbortController | null>(null);
  useEffect(() => () => reading.current?.abort(), []);
  const reader = useMutation({
    mutationFn: async (choose: () => ProjectSource) => {
      reading.current?.abort();
      const controller = new AbortController();
      reading.current = controller;
      setReadBytes(0);
      return readChosenProject(choose(), setReadBytes, controller.signal);
    },
  });
  if (reader.data !== undefined) {
    return (
      <DeployProject
        key={reader.submittedAt}
        organization={organization}
        project={reader.data}
        onChooseAgain={() => reader.reset()}
      />
    );
  }
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setDragged(false);
    try {
      const source = createSourceFromDrop(event.dataTransfer);
      reader.mutate(() => source);
    } catch (error) {
      reader.mutate(() => {
        throw error;
      });
    }
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the buttons in it do the same without a mouse
    <div
      className="flex flex-col gap-8"
      onDragOver={(event) => {
        event.preventDefault();
        setDragged(true);
      }}
      onDragLeave={() => setDragged(false)}
      onDrop={onDrop}
    >
      {reader.error !== null && <PackingProblem error={reader.error} />}
      {reader.isPending ? (
        <Section>
          <p role="status" className="flex items-center justify-center gap-2 px-6 py-16 text-quiet text-sm">
            <LoaderCircle aria-hidden="true" className="size-4 animate-spin" />
            Reading the project… {readBytes > 0 && formatBytes(readBytes)}
          </p>
        </Section>
      ) : (
        <DropZone isDragged={isDragged} onChoose={(choose) => reader.mutate(choose)} />
      )}
      <Section
        title="From the command line"
        lead="botcli packs the same files. With a project of your own, run the steps 1, 2 and 6 in its folder."
      >
        <div className="px-5 py-5 sm:px-6">
          <FirstDeploySteps organization={organization} source="build" />
        </div>
      </Section>
    </div>
  );
}
