import { z } from 'zod';
import { reservedResourceNames, resourceNameLengthLimits, resourceNamePattern } from './limits.ts';

export const ResourceName = z
  .string()
  .min(resourceNameLengthLimits.minimum, `use at least ${resourceNameLengthLimits.minimum} characters`)
  .max(resourceNameLengthLimits.maximum, `use at most ${resourceNameLengthLimits.maximum} characters`)
  .regex(resourceNamePattern, 'use lower-case letters, digits and hyphens, and begin and end with a letter or digit')
  .refine((name) => !reservedResourceNames.includes(name), 'this name is reserved');
