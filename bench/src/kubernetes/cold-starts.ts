import { deployImage } from '../deploy-image.ts';
import { formatMilliseconds } from '../figure.ts';
import { measureStart } from '../figures/warm-start.ts';
import { median } from '../quantile.ts';
import { type PodSpec, readPodSpec, removeBarePods, startBarePod, waitForNoPods } from './bare-pods.ts';
import type { KubernetesBenchContext } from './kubernetes-bench.ts';

/** The service may take this many milliseconds longer than the requests to the API server. */
const allowanceMs = 300;

/** Compares starts without a ready pod with the creation of the same pods by API calls. Returns their specification. */
export async function measureColdStarts({
  service,
  cluster,
  image,
  quick,
  report,
}: KubernetesBenchContext): Promise<PodSpec> {
  await deployImage(service, { serviceName: 'cold', image, minAgents: 0 });
  const spec = await readPodSpec(cluster);
  // Uses the instance with which the deployment was validated.
  await measureStart(service, 'cold');
  const [ours, bare]: [number[], number[]] = [[], []];
  for (let count = 0; count < (quick ? 2 : 20); count++) {
    await waitForNoPods(cluster);
    ours.push(await measureStart(service, 'cold'));
    await waitForNoPods(cluster);
    const before = performance.now();
    await startBarePod(cluster, spec);
    bare.push(performance.now() - before);
    await removeBarePods(cluster);
  }
  report({
    what: 'cold start of a pod, median',
    ours: formatMilliseconds(median(ours)),
    reference: `${formatMilliseconds(median(bare))} by API calls until HTTP is ready, and ${allowanceMs} ms`,
    ratio: median(ours) / (median(bare) + allowanceMs),
    limit: { most: 1 },
  });
  return spec;
}
