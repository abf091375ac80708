import { defineRuntimeTests } from '../conformance/conformance.ts';
import { describeUnless } from '../skip-with-reason.ts';
import { noEngine } from './engine.ts';
import { dockerRuntimeSetup } from './setup.ts';

describeUnless(noEngine, 'with a Docker engine', () => {
  defineRuntimeTests('docker driver', dockerRuntimeSetup);
});
