import type { CatalogueService } from '../catalogue/services.ts';
import type { ProjectPlan } from '../configuration/plan.ts';
import {
  collectImports,
  createCallExpression,
  createConstructorExpression,
  createPythonExpression,
  formatExpression,
  type PythonExpression,
} from '../python/expression.ts';
import { createPythonCode, joinPythonCode, type PythonCode } from './code.ts';

export const pythonServiceVariableNames = {
  stt: 'stt',
  llm: 'llm',
  tts: 'tts',
  realtime: 'llm',
  video: 'avatar',
} as const;

/** Generates one statement per service, in the order of the pipeline. */
export function generateServiceStatements(plan: ProjectPlan): PythonCode {
  const statements = plan.services.map((entry): PythonCode => {
    const expression = constructorOf(entry);
    return {
      lines: formatExpression(expression, 4, `${pythonServiceVariableNames[entry.service.kind]} = `),
      imports: collectImports(expression),
    };
  });
  return joinPythonCode(
    [
      createPythonCode(['    # The services. Keys and settings come from the environment: see .env.example.']),
      ...statements,
    ],
    0,
  );
}

function constructorOf({ service }: CatalogueService): PythonExpression {
  const { module, className, session } = service;
  return createConstructorExpression(
    { module, name: className },
    {
      ...service.arguments,
      ...(session === undefined ? {} : { [session]: createPythonExpression('session') }),
      ...settingsOf(service),
    },
  );
}

/**
 * Creates the argument `settings`, or no argument if the service has no settings. The settings of a language model or realtime
 * service include the system instruction.
 */
function settingsOf({
  className,
  kind,
  settings,
}: CatalogueService['service']): Readonly<Record<string, PythonExpression>> {
  if (settings === null) return {};
  const isModel = kind === 'llm' || kind === 'realtime';
  const instruction = isModel ? { system_instruction: createPythonExpression('SYSTEM_INSTRUCTION') } : {};
  return { settings: createCallExpression(`${className}.Settings`, { ...settings, ...instruction }) };
}
