import '../app.css';
import './help.css';
import { initializeTheme } from '../theme.ts';
import { connectThemeButton } from '../theme-button.ts';
import { connectSearch } from './search-field.ts';

initializeTheme();
connectThemeButton();
connectSearch();
