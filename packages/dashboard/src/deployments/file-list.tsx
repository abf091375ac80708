import { type DeploymentDetails, formatBytes, formatCount } from '@bothost/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ChevronRight } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { describeError, isNotFoundError } from '../api.ts';
import { Badge } from '../components/badge.tsx';
import { DataTable } from '../components/data-table.tsx';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { Section } from '../components/section.tsx';
import { canCallOperation, useMembership } from '../organization/organization.ts';
import { compareFiles, type FileDifference } from './compare-files.ts';
import { type DeploymentAddress, filesQuery } from './queries.ts';

const FileContents = lazy(() => import('./file-contents.tsx').then((module) => ({ default: module.FileContents })));

const tones = { added: 'good', changed: 'accent', removed: 'danger' } as const;
const labels = { added: 'Added', changed: 'Changed', removed: 'Removed' } as const;

type FilesProps = {
  readonly agentName: string;
  readonly deployment: DeploymentDetails;
  readonly former: DeploymentDetails | null;
  /** The path of the file whose lines are shown. */
  readonly shown: string | undefined;
};

/** The files of a deployment, compared with those of the former one. Only projects that the service built have a list. */
export function Files({ agentName, deployment, former, shown }: FilesProps) {
  const { name: organization } = useMembership();
  if (deployment.buildId === null) {
    return (
      <Section
        title="Files"
        lead={
          deployment.image === null
            ? 'The service keeps no files of its own directories, only their hash.'
            : 'The files are those of the image, whose digest is above.'
        }
      />
    );
  }
  const to = { organization, agentName, deploymentId: deployment.id };
  // Without files of the former deployment, all files are listed.
  const from = former === null || former.buildId === null ? null : { ...to, deploymentId: former.id };
  return <ComparedFiles from={from} to={to} shown={shown} />;
}

type ComparedFilesProps = {
  readonly from: DeploymentAddress | null;
  readonly to: DeploymentAddress;
  readonly shown: string | undefined;
};

function ComparedFiles({ from, to, shown }: ComparedFilesProps) {
  const files = useQuery(filesQuery(from, to));
  if (isNotFoundError(files.error)) return <Section title="Files" lead={describeError(files.error)} />;
  return (
    <QueryBoundary query={files}>
      {({ current, former }) => {
        const differences = compareFiles(former ?? [], current);
        return (
          <Section
            title="Files"
            lead={former === null ? formatCount(current.length, 'file') : summarize(differences)}
            help="deploy#what-is-packed"
          >
            {differences.length > 0 && (
              <ul aria-label="Files that differ" className="divide-y divide-line">
                {differences.map((difference) => (
                  <FileRow
                    key={difference.path}
                    from={former === null ? null : from}
                    to={to}
                    difference={difference}
                    isShown={difference.path === shown}
                  />
                ))}
              </ul>
            )}
            {former !== null && (
              <details className="group border-line border-t first:border-t-0">
                <summary className="cursor-pointer px-5 py-3 text-quiet text-sm hover:text-foreground sm:px-6">
                  All {formatCount(current.length, 'file')}
                </summary>
                <DataTable
                  label="All files"
                  className="max-h-96 border-line border-t"
                  rows={current}
                  rowKey={({ path }) => path}
                  columns={[
                    { title: 'Path', cell: ({ path }) => <code className="font-mono text-[0.8125rem]">{path}</code> },
                    { title: 'Size', isNumber: true, cell: ({ sizeBytes }) => formatBytes(sizeBytes) },
                    {
                      title: 'SHA-256',
                      isOptional: true,
                      cell: ({ sha256 }) => <code className="font-mono text-quiet text-xs">{sha256.slice(0, 16)}</code>,
                    },
                  ]}
                />
              </details>
            )}
          </Section>
        );
      }}
    </QueryBoundary>
  );
}

type FileRowProps = {
  readonly from: DeploymentAddress | null;
  readonly to: DeploymentAddress;
  readonly difference: FileDifference;
  readonly isShown: boolean;
};

/** A file that differs. A person who may read the content opens its lines, which the address of the page then names. */
function FileRow({ from, to, difference, isShown }: FileRowProps) {
  const membership = useMembership();
  const mayRead = canCallOperation(membership, 'getDeploymentFile');
  const { path, kind, fromBytes, toBytes } = difference;
  const sizes = [fromBytes, toBytes].filter((bytes) => bytes !== null).map(formatBytes);
  const name = <code className="min-w-0 font-mono text-[0.8125rem] wrap-anywhere">{path}</code>;
  return (
    <li>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 px-5 py-2.5 text-sm sm:px-6">
        {mayRead ? (
          <Link
            from="/orgs/$organization/agents/$agent/deployments/$deployment"
            to="."
            search={isShown ? {} : { file: path }}
            resetScroll={false}
            replace
            aria-expanded={isShown}
            className="flex min-w-0 items-center gap-1.5 underline-offset-4 hover:underline"
          >
            <ChevronRight
              aria-hidden="true"
              className={`size-4 shrink-0 text-quiet transition-transform ${isShown ? 'rotate-90' : ''}`}
            />
            {name}
          </Link>
        ) : (
          name
        )}
        {from !== null && <Badge tone={tones[kind]}>{labels[kind]}</Badge>}
        <span className="ml-auto whitespace-nowrap text-quiet tabular-nums">{[...new Set(sizes)].join(' → ')}</span>
      </div>
      {isShown && mayRead && (
        <Suspense>
          <FileContents from={from} to={to} difference={difference} />
        </Suspense>
      )}
    </li>
  );
}

function summarize(differences: readonly FileDifference[]): string {
  if (differences.length === 0) return 'The files are the same as before.';
  const count = (wanted: FileDifference['kind']) => differences.filter(({ kind }) => kind === wanted).length;
  return `${count('changed')} changed, ${count('added')} added, ${count('removed')} removed.`;
}
