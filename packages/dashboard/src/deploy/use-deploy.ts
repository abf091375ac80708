import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { getOrganizationApi } from '../organization/organization.ts';
import { type DeployProgress, type DeployRequest, runDeploy } from './run-deploy.ts';

const noProgress: DeployProgress = { upload: null, build: null, isCached: false, logLines: [], accepted: null };

/**
 * Runs a deploy, which is aborted when the component unmounts. The next deploy of the same content resumes the upload or build.
 */
export function useDeploy(organization: string) {
  const [progress, setProgress] = useState(noProgress);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const deploy = useMutation({
    mutationFn: async (request: DeployRequest) => {
      const controller = new AbortController();
      running.current = controller;
      setProgress(noProgress);
      const onProgress = (change: Partial<DeployProgress>) => {
        if (!controller.signal.aborted) setProgress((old) => ({ ...old, ...change }));
      };
      await runDeploy({ api: getOrganizationApi(organization), onProgress, signal: controller.signal }, request);
    },
  });
  return { progress, deploy };
}
