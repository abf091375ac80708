import type { Offered } from '../catalogue/services.ts';
import type { Plan } from '../configuration/plan.ts';
import { call, construct, type Expression, importsOf, layOut, python } from '../python/expression.ts';
import { type Code, join } from './code.ts';

/** What a service is called in the bot. */
export const variableNames = { stt: 'stt', llm: 'llm', tts: 'tts', realtime: 'llm', video: 'avatar' } as const;

/** One statement for each service, in the order of the pipeline. */
export function services(plan: Plan): Code {
  return join(
    plan.services.map((offered): Code => {
      const expression = constructorOf(offered);
      return {
        lines: layOut(expression, 4, `${variableNames[offered.service.kind]} = `),
        imports: importsOf(expression),
      };
    }),
    0,
  );
}

function constructorOf({ service }: Offered): Expression {
  const { module, className, session } = service;
  return construct(
    { module, name: className },
    {
      ...service.arguments,
      ...(session === undefined ? {} : { [session]: python('session') }),
      ...settingsOf(service),
    },
  );
}

/** The instruction goes to whatever thinks. */
function settingsOf({ className, kind, settings }: Offered['service']): Readonly<Record<string, Expression>> {
  if (settings === null) return {};
  const thinks = kind === 'llm' || kind === 'realtime';
  const instruction = thinks ? { system_instruction: python('SYSTEM_INSTRUCTION') } : {};
  return { settings: call(`${className}.Settings`, { ...settings, ...instruction }) };
}
