import { variable } from '../python/environment.ts';
import type { Variable } from '../python/expression.ts';

/** Keys of an AWS account, for services whose library reads them from the environment. */
export const awsKeys: readonly Variable[] = [
  variable('AWS_ACCESS_KEY_ID', true),
  variable('AWS_SECRET_ACCESS_KEY', true),
];

/** The same for services that also accept temporary keys. */
export const awsAccount: readonly Variable[] = [...awsKeys, variable('AWS_SESSION_TOKEN', false)];
