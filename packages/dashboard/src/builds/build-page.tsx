import { type Build, buildStatusLabels, formatBytes, getStatusLabel } from '@bothost/contract';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Hammer } from 'lucide-react';
import { isNotFoundError } from '../api.ts';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { Alert } from '../components/alert.tsx';
import { Button } from '../components/button.tsx';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { FactList } from '../components/fact-list.tsx';
import { formatDuration } from '../components/format.ts';
import { MissingObject } from '../components/missing-object.tsx';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { PageHeader, Section } from '../components/section.tsx';
import { RelativeTime } from '../components/time.tsx';
import { useMembership } from '../organization/organization.ts';
import { BuildLog } from './build-log.tsx';
import { buildLogQuery, buildQuery } from './queries.ts';

const route = getRouteApi('/signed-in/app/orgs/$organization/builds/$build');

/** The page at `/orgs/:organization/builds/:build`: the result of a build and its whole log. */
export function BuildPage() {
  const { build: buildId } = route.useParams();
  const { name: organization } = useMembership();
  const build = useQuery(buildQuery(organization, buildId));
  const log = useQuery(buildLogQuery(organization, buildId));
  if (isNotFoundError(build.error)) {
    return (
      <MissingObject
        icon={Hammer}
        title="No build has this id"
        reason="Its id is wrong, or it was removed. Unused builds are removed after some time."
      >
        <Button asChild variant="outline">
          <Link to="/orgs/$organization/agents" params={{ organization }}>
            Show all agents
          </Link>
        </Button>
      </MissingObject>
    );
  }
  return (
    <div className="flex flex-col gap-6">
      <PageHeader title={`Build ${buildId.slice(-8)}`} />
      <QueryBoundary query={build}>
        {(data) => (
          <>
            {data.errorMessage !== null && (
              <Alert>
                <p className="whitespace-pre-wrap wrap-anywhere">{data.errorMessage}</p>
              </Alert>
            )}
            <Section title="Result">
              <FactList facts={listFacts(data)} />
            </Section>
          </>
        )}
      </QueryBoundary>
      <Section title="Log">
        <QueryBoundary query={log}>
          {({ lines }) => (
            <div className="px-5 py-4 sm:px-6">
              {lines.length === 0 ? <p className="text-quiet text-sm">No lines yet.</p> : <BuildLog lines={lines} />}
            </div>
          )}
        </QueryBoundary>
      </Section>
      <EquivalentShellCommand command={botcliCommands.readBuildLog(organization, buildId)} />
    </div>
  );
}

function listFacts(build: Build) {
  const { id, status, region, startedAt, buildDurationSeconds, contextSizeBytes, contentHash } = build;
  return [
    ['Status', getStatusLabel(buildStatusLabels, status)],
    ['Started', startedAt === null ? 'Not yet' : <RelativeTime key="started" at={startedAt} />],
    ['Duration', buildDurationSeconds === null ? '–' : formatDuration(buildDurationSeconds * 1_000)],
    ['Archive', formatBytes(contextSizeBytes)],
    ['Region', region],
    ['Content hash', contentHash],
    ['Id', id],
  ] as const;
}
