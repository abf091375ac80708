const brand = `<a href="/" class="flex shrink-0 items-center gap-2 font-semibold">
  <img src="/assets/parrot.svg" alt="" width="28" height="28" />bothost</a>
<span aria-hidden="true" class="text-field text-lg">/</span>`;

// The icons are those of lucide, as on the other pages.
const icon = (classes: string, shapes: string) =>
  `<svg aria-hidden="true" class="size-5 ${classes}" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round">${shapes}</svg>`;
const moon =
  '<path d="M20.985 12.486a9 9 0 1 1-9.473-9.472c.405-.022.617.46.402.803a6 6 0 0 0 8.268 8.268c.344-.215.825-.004.803.401"/>';
const sun =
  '<circle cx="12" cy="12" r="4"/><path d="M12 2v2M12 20v2m-7.07-16.93 1.41 1.41M17.66 17.66l1.41 1.41M2 12h2M20 12h2M6.34 17.66l-1.41 1.41M19.07 4.93l-1.41 1.41"/>';
const theme = `<button id="theme" type="button" aria-label="Switch the theme" class="shrink-0 cursor-pointer px-2 py-2 text-quiet hover:text-foreground">
  ${icon('dark:hidden', moon)}${icon('hidden dark:block', sun)}</button>`;

/** Replaces comments such as `<!--title-->` in the template of a page. */
export function fillTemplate(template: string, parts: Readonly<Record<string, string>>): string {
  const all: Readonly<Record<string, string>> = { brand, theme, ...parts };
  return (
    template
      .replace(/<!--([a-z]+)-->/g, (_, name: string) => {
        const part = all[name];
        if (part === undefined) throw new Error(`The template has an unknown part: ${name}`);
        return part;
      })
      // Do not paint before the script has set the theme.
      .replace('<script type="module"', '<script type="module" blocking="render"')
  );
}
