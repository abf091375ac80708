import './style.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { name } from './config';
import { Talk } from './talk';

document.title = name;
const root = document.getElementById('root');
if (root === null) throw new Error('The page has no element #root.');
createRoot(root).render(
  <StrictMode>
    <Talk />
  </StrictMode>,
);
