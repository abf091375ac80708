import type { DeploySource } from '@bothost/contract';
import { listFirstDeploySteps } from '../commands/first-deploy-commands.ts';
import { CopyableText } from '../components/copyable-text.tsx';
import { UnbrokenWords } from '../components/unbroken-words.tsx';

/** The commands from an empty directory to a deployed bot. */
export function FirstDeploySteps({
  organization,
  source,
}: {
  readonly organization: string;
  readonly source: DeploySource;
}) {
  return (
    <ol aria-label="Commands of the first deploy" className="flex w-full flex-col gap-3 text-left text-sm">
      {listFirstDeploySteps(location.origin, organization, source).map(({ title, command, task, hint }, index) => (
        <li key={title} className="flex flex-col gap-1">
          <p className="text-quiet">
            {index + 1}. {title}
          </p>
          <CopyableText text={command} name={`command: ${title}`} />
          {task !== undefined && <p>{task}</p>}
          {hint !== undefined && (
            <p className="text-quiet text-xs wrap-anywhere">
              <UnbrokenWords text={hint} />
            </p>
          )}
        </li>
      ))}
    </ol>
  );
}
