/** A name to import from a module; without `name`, the module itself. */
export type Import = { readonly module: string; readonly name?: string };

/** An environment variable that generated code or its library reads. */
export type Variable = {
  readonly name: string;
  /** A required variable is an empty line in `.env.example`; an optional one is a comment, so that its default applies. */
  readonly required: boolean;
  /** Its meaning, if the name does not tell. */
  readonly about?: string;
  /** The value that generated code uses if it is absent or empty. */
  readonly fallback?: string;
};

/** A Python expression with its imports and the variables that it reads. */
export type Expression = {
  readonly imports: readonly Import[];
  readonly variables: readonly Variable[];
} & (
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'call'; readonly callee: string; readonly arguments: readonly Argument[] }
  /** `value if condition else otherwise`; `imports` and `variables` are those of `condition` and `otherwise`. */
  | { readonly kind: 'choice'; readonly condition: string; readonly value: Expression; readonly otherwise: string }
);

/** Without a name, a positional argument. */
export type Argument = { readonly name?: string; readonly value: Expression };

/** Line length of generated Python, as in the generated `pyproject.toml`. */
export const lineLength = 100;

export function python(text: string, imports: readonly Import[] = [], variables: readonly Variable[] = []): Expression {
  return { kind: 'text', text, imports, variables };
}

/** `Name(name=value, ...)` with an imported name. */
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

/** The imports of an expression and its parts. */
export function importsOf(expression: Expression): readonly Import[] {
  return [...expression.imports, ...partsOf(expression).flatMap(importsOf)];
}

/** The variables of an expression and its parts. */
export function variablesOf(expression: Expression): readonly Variable[] {
  return [...expression.variables, ...partsOf(expression).flatMap(variablesOf)];
}

/**
 * Formats `before` + expression + `after` at an indent, like `ruff format`: on one line if it fits, else with one argument per
 * line.
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
