import { quickstartProject } from '../../src/scaffold/quickstart.ts';

/** The options of the project that `botcli init quickstart` generates. */
export const quickstartOptions = quickstartProject.options;
