/** A name that a file has to import; without `name` the module itself. */
export type Import = { readonly module: string; readonly name?: string };

/** A variable of the environment that generated code, or the library on its behalf, reads. */
export type Variable = {
  readonly name: string;
  /** A required one stands in `.env.example` to be filled; an optional one as a comment, so that copying changes nothing. */
  readonly required: boolean;
  /** What it is, when its name does not say it. */
  readonly about?: string;
  /** What generated code takes where it is absent or empty. */
  readonly fallback?: string;
};

/** A Python expression with what it takes to stand in a file. */
export type Expression = {
  readonly imports: readonly Import[];
  readonly variables: readonly Variable[];
} & (
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'call'; readonly callee: string; readonly arguments: readonly Argument[] }
  /** The value where a condition holds; `imports` and `variables` are those of the condition and of what is there else. */
  | { readonly kind: 'choice'; readonly condition: string; readonly value: Expression; readonly otherwise: string }
);

/** Positional where it has no name. */
export type Argument = { readonly name?: string; readonly value: Expression };

/** The width that generated Python keeps to; the same stands in the generated `pyproject.toml`. */
export const lineLength = 100;

export function python(text: string, imports: readonly Import[] = [], variables: readonly Variable[] = []): Expression {
  return { kind: 'text', text, imports, variables };
}

/** `Name(name=value, ...)` of something that the file imports. */
export function construct(
  imported: Import & { readonly name: string },
  named: Readonly<Record<string, Expression>>,
): Expression {
  return call(imported.name, named, [imported]);
}

/** `callee(name=value, ...)`; `imports` are those of the callee. */
export function call(
  callee: string,
  named: Readonly<Record<string, Expression>>,
  imports: readonly Import[] = [],
): Expression {
  const args = Object.entries(named).map(([name, value]) => ({ name, value }));
  return { kind: 'call', callee, arguments: args, imports, variables: [] };
}

/** All that an expression and its parts need. */
export function importsOf(expression: Expression): readonly Import[] {
  return [...expression.imports, ...partsOf(expression).flatMap(importsOf)];
}

/** All variables that an expression and its parts read. */
export function variablesOf(expression: Expression): readonly Variable[] {
  return [...expression.variables, ...partsOf(expression).flatMap(variablesOf)];
}

/**
 * The lines of `before` + expression + `after` at an indent, as a formatter leaves them: on one line where it fits, else
 * one argument a line, each with its comma, and a choice by parts.
 */
export function layOut(expression: Expression, indent: number, before = '', after = ''): readonly string[] {
  const space = ' '.repeat(indent);
  const line = `${space}${before}${flat(expression)}${after}`;
  if (line.length <= lineLength || expression.kind === 'text') return [line];
  if (expression.kind === 'choice') {
    const { value, condition, otherwise } = expression;
    return [...layOut(value, indent, before), `${space}if ${condition}`, `${space}else ${otherwise}${after}`];
  }
  if (expression.arguments.length === 0) return [line];
  return [
    `${space}${before}${expression.callee}(`,
    ...expression.arguments.flatMap(({ name, value }) =>
      layOut(value, indent + 4, name === undefined ? '' : `${name}=`, ','),
    ),
    `${space})${after}`,
  ];
}

function flat(expression: Expression): string {
  if (expression.kind === 'text') return expression.text;
  if (expression.kind === 'choice') {
    return `${flat(expression.value)} if ${expression.condition} else ${expression.otherwise}`;
  }
  const args = expression.arguments.map(({ name, value }) =>
    name === undefined ? flat(value) : `${name}=${flat(value)}`,
  );
  return `${expression.callee}(${args.join(', ')})`;
}

function partsOf(expression: Expression): readonly Expression[] {
  if (expression.kind === 'text') return [];
  return expression.kind === 'choice' ? [expression.value] : expression.arguments.map(({ value }) => value);
}
