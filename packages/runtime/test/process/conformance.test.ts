import { defineRuntimeTests, defineSourceRuntimeTests } from '../conformance/conformance.ts';
import { availableContainmentKinds, createProcessRuntimeSetup } from './setup.ts';

const [strongest] = availableContainmentKinds;
const setup = createProcessRuntimeSetup(strongest);
defineRuntimeTests(`process driver, containment by ${strongest}`, setup);
defineSourceRuntimeTests(`process driver, containment by ${strongest}`, setup);
