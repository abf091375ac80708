import { Link } from '@tanstack/react-router';
import { FolderUp } from 'lucide-react';
import { Button } from '../components/button.tsx';
import { FirstDeploySteps } from './first-deploy-steps.tsx';
import { canCallOperation, useMembership } from './organization.ts';

/** The empty state of an organization without agents, with a link to the deploy page. */
export function FirstDeploy() {
  const membership = useMembership();
  const { name: organization } = membership;
  return (
    <>
      <p>Deploy a bot from its folder. If you have none, these commands create and deploy one:</p>
      {canCallOperation(membership, 'createBuild') && (
        <Button asChild>
          <Link to="/orgs/$organization/deploy" params={{ organization }}>
            <FolderUp aria-hidden="true" className="size-4" />
            Deploy a bot
          </Link>
        </Button>
      )}
      <FirstDeploySteps organization={organization} />
    </>
  );
}
