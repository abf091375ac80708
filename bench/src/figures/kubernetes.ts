import { withService } from '../benchmarked-service.ts';
import { deployImage } from '../deploy-image.ts';
import type { Benchmark } from '../figure.ts';
import { findClusterProblem, withCluster } from '../kubernetes/cluster.ts';
import { measureColdStarts } from '../kubernetes/cold-starts.ts';
import { measureExits } from '../kubernetes/exits.ts';
import { measureRequests, watchedAgent } from '../kubernetes/requests.ts';
import { measureRestarts } from '../kubernetes/restarts.ts';
import { measureBursts, measureSteadyStarts } from '../kubernetes/warm-pools.ts';
import { withParrotImage } from '../parrot-image.ts';

/**
 * Measures a service whose bots are pods: starts and the refill of warm pools, restarts of the service, what it requests of the API
 * server, and how soon it sees exits. References are the same pods without the service, and goals.
 */
export const kubernetesBench: Benchmark = {
  name: 'kubernetes',
  run: async (options) => {
    const problem = await findClusterProblem();
    if (problem !== null) return options.log(`not measured: ${problem}`);
    await withParrotImage((image) =>
      withCluster([image], async (cluster) => {
        await withService({ agents: [], environment: cluster.environment }, async (service) => {
          const context = { ...options, service, cluster, image };
          const spec = await measureColdStarts(context);
          await measureBursts(context, spec);
          await measureSteadyStarts(context);
          await measureRestarts(context);
        });
        const { environment, ...proxy } = await cluster.startProxy();
        try {
          await withService({ agents: [], environment }, async (service) => {
            const context = { ...options, service, cluster, image };
            await deployImage(service, { serviceName: watchedAgent.name, image, minAgents: watchedAgent.minAgents });
            await measureRequests(context, proxy);
            await measureExits(context, proxy);
          });
        } finally {
          await proxy.close();
        }
      }),
    );
  },
};
