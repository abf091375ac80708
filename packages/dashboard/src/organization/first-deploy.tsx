import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { FolderUp } from 'lucide-react';
import { Button } from '../components/button.tsx';
import { FirstDeploySteps } from './first-deploy-steps.tsx';
import { canCallOperation, useMembership } from './organization.ts';
import { organizationPropertiesQuery, regionsQuery } from './queries.ts';

/** The empty state of an organization without agents, with a link to the deploy page. */
export function FirstDeploy() {
  const membership = useMembership();
  const { name: organization } = membership;
  const regions = useQuery(regionsQuery(organization));
  const properties = useQuery(organizationPropertiesQuery(organization));
  const region = properties.data?.properties.defaultRegion;
  const source = regions.data?.regions.find(({ code }) => code === region)?.accepts;
  return (
    <>
      {source === 'build' && (
        <p>Deploy a bot from its folder. If you have none, these commands create and deploy one:</p>
      )}
      {source === 'image' && (
        <p>Deploy a container image. If you have none, these commands create a bot, build its image and deploy it:</p>
      )}
      {canCallOperation(membership, 'createBuild') && (
        <Button asChild>
          <Link to="/orgs/$organization/deploy" params={{ organization }}>
            <FolderUp aria-hidden="true" className="size-4" />
            Deploy a bot
          </Link>
        </Button>
      )}
      {source !== undefined && <FirstDeploySteps organization={organization} source={source} />}
    </>
  );
}
