import { defineRuntimeTests } from '../conformance/conformance.ts';
import { availableContainmentKinds, createProcessRuntimeSetup } from './setup.ts';

const [strongest] = availableContainmentKinds;
defineRuntimeTests(`process driver, containment by ${strongest}`, createProcessRuntimeSetup(strongest));
