import { Link } from '@tanstack/react-router';
import { FolderUp } from 'lucide-react';
import { formatBotcliCommand, formatCloudCommand } from '../commands/shell-command.ts';
import { Button } from '../components/button.tsx';
import { CopyableText } from '../components/copyable-text.tsx';
import { canCallOperation, useMembership } from './organization.ts';

/** The empty state of an organization without agents, with a link to the deploy page. */
export function FirstDeploy() {
  const membership = useMembership();
  const { name: organization } = membership;
  return (
    <>
      <p>Deploy a bot from its folder. If you have none, botcli creates one.</p>
      {canCallOperation(membership, 'createBuild') && (
        <Button asChild>
          <Link to="/orgs/$organization/deploy" params={{ organization }}>
            <FolderUp aria-hidden="true" className="size-4" />
            Deploy a bot
          </Link>
        </Button>
      )}
      <div className="flex w-full flex-col gap-2 text-left">
        <CopyableText text={formatBotcliCommand('init', 'quickstart')} name="first command" />
        <CopyableText text={formatCloudCommand(organization, 'deploy')} name="second command" />
      </div>
    </>
  );
}
