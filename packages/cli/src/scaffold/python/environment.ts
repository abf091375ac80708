import { type Expression, type Import, python, type Variable } from './expression.ts';

const os: Import = { module: 'os' };
const notGiven: Import = { module: 'pipecat.utils.types', name: 'NOT_GIVEN' };

/** Read from the environment; the bot cannot work without it. */
export function required(name: string, about?: string): Expression {
  return python(`os.environ["${name}"]`, [os], [variable(name, true, about)]);
}

/** None where the variable is absent or empty, for arguments that take None as "not said". */
export function optional(name: string, about?: string): Expression {
  return python(`os.getenv("${name}") or None`, [os], [variable(name, false, about)]);
}

/** A key of a service's Settings: absent or empty leaves the library's own default alone, which changes over time. */
export function setting(name: string, about?: string): Expression {
  return python(`os.getenv("${name}") or NOT_GIVEN`, [os, notGiven], [variable(name, false, about)]);
}

/** A whole number among the Settings. */
export function wholeNumberSetting(name: string, about?: string): Expression {
  const text = `int(os.environ["${name}"]) if os.getenv("${name}") else NOT_GIVEN`;
  return python(text, [os, notGiven], [variable(name, false, about)]);
}

/** A key of the Settings that is there only with the variable, which `value` reads. */
export function settingWith(name: string, value: Expression, about: string): Expression {
  return {
    kind: 'choice',
    condition: `os.getenv("${name}")`,
    value,
    otherwise: 'NOT_GIVEN',
    imports: [os, notGiven],
    variables: [variable(name, false, about)],
  };
}

/** For the few arguments that take neither None nor NOT_GIVEN, and services without a default of their own. */
export function fallback(name: string, value: string): Expression {
  return python(`os.getenv("${name}") or "${value}"`, [os], [{ ...variable(name, false), fallback: value }]);
}

export function variable(name: string, isRequired: boolean, about?: string): Variable {
  return { name, required: isRequired, ...(about === undefined ? {} : { about }) };
}
